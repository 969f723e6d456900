#include "runtime/callback_guard.hpp"

#include <strings.h>

namespace skein::runtime {

callback_guard::callback_guard(sqlite::connection connection, std::string savepoint)
    : connection_(connection), savepoint_(std::move(savepoint))
{
    // Set once: setting it would expire every prepared statement.
    sqlite3_set_authorizer(connection_.handle(), &callback_guard::authorize, this);
}

callback_guard::~callback_guard()
{
    sqlite3_set_authorizer(connection_.handle(), nullptr, nullptr);
}

int callback_guard::authorize(void* self, int action, const char* first, const char* second,
                              const char* /*schema*/, const char* /*trigger*/)
{
    return static_cast<callback_guard*>(self)->allows(action, first, second) ? SQLITE_OK
                                                                             : SQLITE_DENY;
}

bool callback_guard::allows(int action, const char* /*first*/, const char* second) const
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
    return mode_ == mode::writing || action == SQLITE_SELECT || action == SQLITE_READ ||
           action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE ||
           (action == SQLITE_PRAGMA && second == nullptr);
}

} // namespace skein::runtime
