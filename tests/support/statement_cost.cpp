#include "support/statement_cost.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace skein::support {

namespace {

template <class Function>
void for_each_statement(sqlite3* connection, Function&& function)
{
    for (sqlite3_stmt* each = sqlite3_next_stmt(connection, nullptr); each != nullptr;
         each = sqlite3_next_stmt(connection, each)) {
        function(each);
    }
}

void explain(sqlite3* connection, const std::string& sql, std::vector<std::string>& plans)
{
    sqlite3_stmt* plan = nullptr;
    const std::string query = "EXPLAIN QUERY PLAN " + sql;
    if (sqlite3_prepare_v2(connection, query.c_str(), -1, &plan, nullptr) != SQLITE_OK) {
        throw std::runtime_error(query + ": " + sqlite3_errmsg(connection));
    }
    constexpr int detail = 3;
    while (sqlite3_step(plan) == SQLITE_ROW) {
        plans.push_back(sql + " => " +
                        reinterpret_cast<const char*>(sqlite3_column_text(plan, detail)));
    }
    sqlite3_finalize(plan);
}

} // namespace

long steps(sqlite3* connection)
{
    long sum = 0;
    for_each_statement(connection, [&](sqlite3_stmt* each) {
        sum += sqlite3_stmt_status(each, SQLITE_STMTSTATUS_VM_STEP, 0);
    });
    return sum;
}

void reset_steps(sqlite3* connection)
{
    for_each_statement(connection, [](sqlite3_stmt* each) {
        sqlite3_stmt_status(each, SQLITE_STMTSTATUS_VM_STEP, 1);
    });
}

std::vector<std::string> query_plans(sqlite3* connection)
{
    std::vector<std::string> sources;
    for_each_statement(connection,
                       [&](sqlite3_stmt* each) { sources.emplace_back(sqlite3_sql(each)); });
    std::vector<std::string> plans;
    for (const std::string& each : sources) {
        if (!each.starts_with("PRAGMA")) {
            explain(connection, each, plans);
        }
    }
    return plans;
}

} // namespace skein::support
