#pragma once

#include "api/seconds.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/engine.hpp"
#include "runtime/reading.hpp"

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace skein::api {

/// A look at the tables of a `table_store`: its result stays as it was made when there are none.
template <class Store, class Look>
class table_reading final : public runtime::reading {
public:
    using result_type =
        std::invoke_result_t<Look&, typename Store::statements&, std::int64_t /*now*/>;

    table_reading(std::shared_ptr<runtime::engine> engine, std::shared_ptr<Store> store,
                  bool create_schema, Look look)
        : engine_(std::move(engine)), store_(std::move(store)), create_schema_(create_schema),
          look_(std::move(look))
    {
    }

    void run(const SQLite::Database& database) override
    {
        const sqlite::connection connection(database.getHandle());
        typename Store::statements* const there = store_->find_to_read(connection, create_schema_);
        if (there != nullptr) {
            result = look_(*there, to_seconds(engine_->wall_now()));
        }
    }

    result_type result{};

private:
    std::shared_ptr<runtime::engine> engine_;
    std::shared_ptr<Store> store_;
    bool create_schema_;
    Look look_;
};

/// Looks at tables, on one state of the file: returns what `look(statements, now)` returns, `now`
/// in epoch seconds. Without tables that is a default constructed one, and none are made. With
/// `create_schema` false they are somebody else's: that they are not there is
/// `errc::storage_failure`.
///
/// `look` is copied.
template <class Store, class Look>
auto read_tables(const std::shared_ptr<runtime::engine>& engine,
                 const std::shared_ptr<Store>& store, bool create_schema, Look look)
{
    return runtime::await_result(engine, std::make_shared<table_reading<Store, Look>>(
                                             engine, store, create_schema, std::move(look)));
}

} // namespace skein::api
