#include "api/outbox/outbox_state.hpp"

#include "api/misuse.hpp"
#include "runtime/failure.hpp"
#include "sqlite/file_identity.hpp"

#include <skein/error.hpp>

#include <string>

namespace skein::api {

namespace {

store::transport_names names_of(std::string_view prefix)
{
    return checked([&] { return store::transport_names(prefix); });
}

std::string file_of(sqlite::connection connection)
{
    const std::string file = sqlite::database_file(connection);
    return file.empty() ? ":memory:" : file;
}

error to_busy_error(const sqlite::error& refusal, const std::string& file)
{
    const bool is_late = refusal.extended_code() == SQLITE_BUSY_SNAPSHOT;
    return {errc::busy,
            file + ": " +
                (is_late ? "another connection has committed since this transaction has first "
                           "read; begin it with BEGIN IMMEDIATE"
                         : "another connection held the lock longer than the busy timeout"),
            refusal.extended_code()};
}

} // namespace

outbox_state::outbox_state(sqlite::connection connection, const outbox_options& options)
    : transport(outbox_transport{names_of(options.prefix)}), connection_(connection),
      create_schema_(options.create_schema), fair_turns_(options.fair_turns),
      clock_(options.clock ? options.clock : system_clock()), atomic_(connection, "skein_outbox")
{
}

void outbox_state::rethrow(const std::exception_ptr& thrown) const
{
    const std::string file = file_of(connection_);
    try {
        std::rethrow_exception(thrown);
    } catch (const sqlite::error& refusal) {
        if (refusal.is_busy()) {
            throw to_busy_error(refusal, file);
        }
        throw runtime::to_error(refusal, file);
    } catch (...) {
        std::rethrow_exception(runtime::translate(std::current_exception(), file));
    }
}

} // namespace skein::api
