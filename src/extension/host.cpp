#include "extension/host.hpp"

namespace skein::extension {

namespace {

const std::string savepoint_name = "skein_function";

} // namespace

statements::statements(sqlite::connection connection)
    : clock(connection, "SELECT unixepoch()"),
      take_write_lock(connection, "DELETE FROM _honker_live WHERE 0"),
      savepoint(connection, savepoint_name), enqueuer(connection), claimer(connection),
      forecast(connection), housekeeping(connection), finisher(connection), acks(connection),
      canceller(connection), dead(connection), inspection(connection), results(connection),
      windows(connection), paced(connection), notifications(connection), streams(connection),
      locks(connection), schedules(connection), tick(connection)
{
}

statements& host::prepared()
{
    if (!statements_) {
        statements_ = std::make_unique<extension::statements>(connection_);
    }
    return *statements_;
}

void host::release(bool is_for_good) noexcept
{
    statements_.reset();
    is_closing_ = is_closing_ || is_for_good;
}

/// What has failed may have been prepared for tables that are not there any more.
void host::note_end(bool has_failed) noexcept
{
    if (is_closing_ || has_failed) {
        statements_.reset();
    }
}

std::int64_t host::read_clock()
{
    sqlite::execution read = prepared().clock.start();
    read.step();
    return read.integer(0);
}

void host::require_separate_select(const call& from)
{
    begin(from);
    prepared().savepoint.release();
}

void host::begin(const call& from)
{
    try {
        prepared().savepoint.begin();
    } catch (const sqlite::error& refusal) {
        if (!refusal.is_busy()) {
            throw;
        }
        // SQLite calls it busy; no patience helps, so it must not be told as a lock.
        throw bad_argument(
            std::string(refusal.what()) + "; honker: " + std::string(from.function()) +
            " requires a separate SELECT after you finish all write/RETURNING cursors; do not call"
            " it from a trigger or write statement. An explicit surrounding transaction is"
            " supported");
    }
}

void host::undo(const std::string& reason)
{
    if (!connection_.in_transaction()) {
        return; // SQLite has ended all of it
    }
    try {
        prepared().savepoint.undo();
    } catch (const sqlite::error& failure) {
        throw std::runtime_error(reason + "; additionally, undoing SAVEPOINT " + savepoint_name +
                                 " left the connection in an unknown state: " + failure.what());
    }
}

} // namespace skein::extension
