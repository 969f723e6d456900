#pragma once

#include "api/queue/queue_store.hpp"
#include "api/seconds.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/engine.hpp"
#include "runtime/reading.hpp"
#include "runtime/unit.hpp"

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace skein::api {

/// What a look at the queue's tables returns. It is called with the statements and with the time in
/// epoch seconds; its result can be default constructed.
template <class Look>
using look_result = std::invoke_result_t<Look&, queue_statements&, std::int64_t>;

/// A look at the queue's tables as they are: its result stays as it was made when there are none.
template <class Look>
class queue_reading final : public runtime::reading {
public:
    queue_reading(std::shared_ptr<runtime::engine> engine, std::shared_ptr<queue_store> store,
                  bool create_schema, Look look)
        : engine_(std::move(engine)), store_(std::move(store)), create_schema_(create_schema),
          look_(std::move(look))
    {
    }

    void run(const SQLite::Database& database) override
    {
        const sqlite::connection connection(database.getHandle());
        queue_statements* const there = store_->find_to_read(connection, create_schema_);
        if (there != nullptr) {
            result = look_(*there, to_seconds(engine_->wall_now()));
        } else {
            needs_upgrade_ = store::find_queue(connection).has_live;
        }
    }

    /// Whether there are tables of an older shape, which can be looked at when they are upgraded.
    [[nodiscard]] bool needs_upgrade() const noexcept { return needs_upgrade_; }

    look_result<Look> result{};

private:
    std::shared_ptr<runtime::engine> engine_;
    std::shared_ptr<queue_store> store_;
    bool create_schema_;
    Look look_;
    bool needs_upgrade_ = false;
};

/// Upgrades the queue's tables, and looks at them.
template <class Look>
class upgrading_look final : public runtime::unit {
public:
    upgrading_look(std::shared_ptr<queue_store> store, Look look)
        : store_(std::move(store)), look_(std::move(look))
    {
    }

    void run(runtime::batch& batch) override
    {
        result = look_(store_->ready(batch, true), to_seconds(batch.now()));
    }

    look_result<Look> result{};

private:
    std::shared_ptr<queue_store> store_;
    Look look_;
};

template <class Look>
asio::awaitable<look_result<Look>> look_or_upgrade(std::shared_ptr<runtime::engine> engine,
                                                   std::shared_ptr<queue_reading<Look>> reading,
                                                   std::shared_ptr<upgrading_look<Look>> upgrade)
{
    co_await runtime::await_operation(engine, reading);
    if (!reading->needs_upgrade()) {
        co_return std::move(reading->result);
    }
    co_await runtime::await_operation(engine, upgrade);
    co_return std::move(upgrade->result);
}

/// Looks at the queue's tables, on one state of the file. Without tables the result is a default
/// constructed one, and none are made; those of an older shape are upgraded first. With
/// `create_schema` false they are somebody else's: that they are not there, or too old, is
/// `errc::storage_failure`.
///
/// `look` is copied, and called once or twice.
template <class Look>
asio::awaitable<look_result<Look>> look(const std::shared_ptr<runtime::engine>& engine,
                                        const std::shared_ptr<queue_store>& store,
                                        bool create_schema, Look look)
{
    engine->require_outside_callback();
    return look_or_upgrade<Look>(
        engine, std::make_shared<queue_reading<Look>>(engine, store, create_schema, look),
        std::make_shared<upgrading_look<Look>>(store, look));
}

} // namespace skein::api
