#include "runtime/callback_guard.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace skein::runtime {

namespace {

/// Pragmas that only look, although they take an argument.
bool only_looks(const char* pragma)
{
    constexpr std::array<const char*, 10> known = {
        "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
        "integrity_check",   "quick_check",      "table_info", "table_list", "table_xinfo"};
    return std::ranges::any_of(known,
                               [&](const char* each) { return strcasecmp(pragma, each) == 0; });
}

/// SQLite asks for this when it connects a table-valued function such as json_each.
bool declares_virtual_table(int action, const char* table)
{
    return action == SQLITE_UPDATE && std::strcmp(table, "sqlite_master") == 0;
}

// What runs on this thread, the innermost first.
thread_local const callback_guard::scope* innermost = nullptr;

} // namespace

callback_guard::scope::scope(callback_guard& guard, mode kind) noexcept
    : guard_(guard), outer_(innermost)
{
    guard_.mode_ = kind;
    innermost = this;
}

callback_guard::scope::~scope()
{
    innermost = outer_;
    guard_.mode_ = mode::off;
    guard_.connection_.reset_statements();
}

callback_guard::mode callback_guard::here(const engine& owner) noexcept
{
    for (const scope* each = innermost; each != nullptr; each = each->outer_) {
        if (&each->guard_.owner_ == &owner) {
            return each->guard_.mode_;
        }
    }
    return mode::off;
}

callback_guard::callback_guard(const engine& owner, sqlite::connection connection,
                               std::string savepoint)
    : owner_(owner), connection_(connection), savepoint_(std::move(savepoint))
{
    // Set once: setting it would expire every prepared statement.
    sqlite3_set_authorizer(connection_.handle(), &callback_guard::authorize, this);
    sqlite3_commit_hook(connection_.handle(), &callback_guard::refuse_commit, this);
}

callback_guard::~callback_guard()
{
    sqlite3_commit_hook(connection_.handle(), nullptr, nullptr);
    sqlite3_set_authorizer(connection_.handle(), nullptr, nullptr);
}

int callback_guard::authorize(void* self, int action, const char* first, const char* second,
                              const char* /*schema*/, const char* /*trigger*/)
{
    return static_cast<callback_guard*>(self)->allows(action, first, second) ? SQLITE_OK
                                                                             : SQLITE_DENY;
}

/// A callback that goes on after SQLite has ended its transaction would commit each statement
/// alone.
int callback_guard::refuse_commit(void* self)
{
    return static_cast<callback_guard*>(self)->mode_ == mode::off ? 0 : 1;
}

bool callback_guard::allows(int action, const char* first, const char* second) const
{
    if (mode_ == mode::off) {
        return true;
    }
    if (action == SQLITE_TRANSACTION) {
        return false;
    }
    if (action == SQLITE_SAVEPOINT) {
        return second == nullptr || strcasecmp(second, savepoint_.c_str()) != 0;
    }
    if (action == SQLITE_PRAGMA && second != nullptr && strcasecmp(first, "query_only") == 0) {
        return false; // it would outlive the callback, and nobody could write any more
    }
    return mode_ == mode::writing || action == SQLITE_SELECT || action == SQLITE_READ ||
           action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE ||
           declares_virtual_table(action, first) ||
           (action == SQLITE_PRAGMA && (second == nullptr || only_looks(first)));
}

} // namespace skein::runtime
