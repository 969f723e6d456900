#pragma once

#include "store/table_family.hpp"
#include "support/plain_connection.hpp"
#include "support/write_transaction.hpp"

#include <filesystem>
#include <type_traits>
#include <utility>

namespace skein::store {

/// One connection to a file with the tables of one family in it.
class family_file {
public:
    family_file(const std::filesystem::path& path, const table_family& family) : file_(path)
    {
        file_.sql("PRAGMA journal_mode = wal");
        create(family);
    }

    /// Runs `function` in a write transaction, as the runtime would run it.
    template <class Function>
    auto write(Function&& function)
    {
        if constexpr (std::is_void_v<decltype(function())>) {
            support::in_write_transaction(file_, [&] {
                function();
                return true;
            });
        } else {
            return support::in_write_transaction(file_, std::forward<Function>(function));
        }
    }

    void create(const table_family& family)
    {
        write([&] { create_family(connection(), family); });
    }

    [[nodiscard]] const support::plain_connection& file() const noexcept { return file_; }
    [[nodiscard]] sqlite::connection connection() const noexcept
    {
        return sqlite::connection(file_.handle());
    }

private:
    support::plain_connection file_;
};

} // namespace skein::store
