#pragma once

#include "extension/extension_fixture.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

namespace skein::support {

/// A connection that has loaded the extension and tells SQL what time it is, as tests of programs
/// that use the functions do.
class contract_fixture : public extension_fixture {
protected:
    contract_fixture()
    {
        sqlite3_create_function_v2(connection_.handle(), "unixepoch", 0, SQLITE_UTF8, this,
                                   tell_time, nullptr, nullptr, nullptr);
        sql("SELECT honker_bootstrap()");
    }

    /// What a function returns, as text.
    std::string call(const std::string& expression) const { return value("SELECT " + expression); }
    std::string refusal_of(const std::string& expression) const
    {
        return refusal("SELECT " + expression);
    }

    /// The extended result code of statements.
    int code_of(std::string_view statements) const
    {
        const std::string text(statements);
        sqlite3_exec(connection_.handle(), text.c_str(), nullptr, nullptr, nullptr);
        return sqlite3_extended_errcode(connection_.handle());
    }

    bool in_transaction() const { return sqlite3_get_autocommit(connection_.handle()) == 0; }

    /// A job that is due, with further arguments from the priority on.
    std::string enqueue(const std::string& queue, const std::string& more = "0, 3, NULL") const
    {
        return call("honker_enqueue('" + queue + "', '{}', NULL, NULL, " + more + ")");
    }

    std::string claim(const std::string& queue, int most = 1) const
    {
        return call("honker_claim_batch('" + queue + "', 'w', " + std::to_string(most) + ", 60)");
    }

    /// One column of the JSON array that a function returns.
    std::vector<std::string> each(const std::string& array, const std::string& key) const
    {
        return sql("SELECT value ->> '" + key + "' FROM json_each('" + array + "')");
    }

    /// All rows of all tables that the functions write.
    std::vector<std::string> all_rows() const
    {
        std::vector<std::string> rows;
        for (const std::string table : {"_honker_live", "_honker_dead", "_honker_scheduler_tasks",
                                        "_skein_schedules", "_honker_locks"}) {
            for (const std::string& row : sql("SELECT * FROM " + table)) {
                rows.push_back(table + " " + row);
            }
        }
        return rows;
    }

    std::int64_t now_ = 1000;
    int clock_reads_ = 0;

private:
    static void tell_time(sqlite3_context* context, int /*count*/, sqlite3_value** /*arguments*/)
    {
        auto& self = *static_cast<contract_fixture*>(sqlite3_user_data(context));
        ++self.clock_reads_;
        sqlite3_result_int64(context, self.now_);
    }
};

} // namespace skein::support
