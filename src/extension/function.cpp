#include "extension/function.hpp"

#include "extension/host.hpp"
#include "store/error.hpp"

#include <new>
#include <utility>

namespace skein::extension {

namespace {

/// A function on one connection, as long as SQLite knows it.
struct definition {
    function what;
    std::shared_ptr<host> where;
};

void tell(sqlite3_context* context, const std::string& text, int code = SQLITE_ERROR)
{
    sqlite3_result_error(context, text.data(), static_cast<int>(text.size()));
    if (code != SQLITE_ERROR) {
        sqlite3_result_error_code(context, code);
    }
}

/// Locks that somebody else holds keep their code, so that programs can tell what may go better
/// later.
void tell(sqlite3_context* context, const sqlite::error& refusal)
{
    const int code = refusal.primary_code();
    const bool is_lock = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    tell(context, refusal.what(), is_lock ? refusal.extended_code() : SQLITE_ERROR);
}

void run(sqlite3_context* context, const definition& called, sqlite3_value** arguments)
{
    host& where = *called.where;
    where.enter();
    try {
        call current(context, called.what.name, called.what.parameters, arguments, where);
        called.what.run(current);
    } catch (...) {
        where.leave(true);
        throw;
    }
    where.leave(false);
}

void call_function(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) noexcept
{
    const auto& called = *static_cast<const definition*>(sqlite3_user_data(context));
    try {
        run(context, called, arguments);
    } catch (const sqlite::error& refusal) {
        tell(context, refusal);
    } catch (const store::invalid_argument& refused) {
        tell(context, std::string(called.what.name) + ": " + refused.what());
    } catch (const store::invalid_payload& refused) {
        tell(context, "honker: " + std::string(refused.what()));
    } catch (const std::bad_alloc&) {
        sqlite3_result_error_nomem(context);
    } catch (const std::exception& failure) {
        tell(context, failure.what());
    }
}

void forget(void* kept)
{
    delete static_cast<definition*>(kept);
}

} // namespace

void define(const std::shared_ptr<host>& where, const std::vector<function>& functions)
{
    const sqlite::connection connection = where->connection();
    for (const function& each : functions) {
        // SQLite lets go of it, also when it refuses the function.
        auto kept = std::make_unique<definition>(definition{each, where});
        const int code = sqlite3_create_function_v2(
            connection.handle(), each.name, static_cast<int>(each.parameters.size()), SQLITE_UTF8,
            kept.release(), call_function, nullptr, nullptr, forget);
        if (code != SQLITE_OK) {
            throw connection.last_error();
        }
    }
}

} // namespace skein::extension
