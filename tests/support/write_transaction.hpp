#pragma once

#include "support/plain_connection.hpp"

namespace skein::support {

/// Runs `function` in a write transaction, which a throw undoes. Returns what it returns.
template <class Function>
auto in_write_transaction(const plain_connection& file, Function&& function)
{
    file.sql("BEGIN IMMEDIATE");
    try {
        auto result = function();
        file.sql("COMMIT");
        return result;
    } catch (...) {
        file.sql("ROLLBACK");
        throw;
    }
}

} // namespace skein::support
