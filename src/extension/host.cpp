#include "extension/host.hpp"

namespace skein::extension {

namespace {

const std::string savepoint_name = "skein_function";

/// A trigger that fires itself in this way is not seen by SQLite's own limit, but the stack ends.
constexpr std::size_t deepest_call = 32;

} // namespace

statements::statements(sqlite::connection connection)
    : clock(connection, "SELECT unixepoch()"),
      take_write_lock(connection, "DELETE FROM _honker_live WHERE 0"),
      savepoint(connection, savepoint_name), enqueuer(connection), keyed(connection),
      claimer(connection), forecast(connection), housekeeping(connection), finisher(connection),
      acks(connection), canceller(connection), changer(connection), held(connection),
      pauses(connection), stops(connection), dead(connection), inspection(connection),
      results(connection), windows(connection), paced(connection),
      notifications(connection, store::family_shape::plain),
      streams(connection, store::family_shape::plain),
      locks(connection, store::family_shape::plain), schedules(connection), tick(connection)
{
}

void host::enter()
{
    if (depth_ == deepest_call) {
        throw bad_argument("honker: triggers call functions that fire triggers, " +
                           std::to_string(deepest_call) + " deep");
    }
    statements_.resize(depth_ + 1);
    ++depth_;
}

/// What has failed may have been prepared for tables that are not there any more.
void host::leave(bool has_failed) noexcept
{
    --depth_;
    const bool is_inside_another = depth_ > 0;
    if (is_closing_ || has_failed || is_inside_another) {
        statements_.pop_back();
    }
}

statements& host::prepared()
{
    std::unique_ptr<extension::statements>& current = statements_.at(depth_ - 1);
    if (!current) {
        current = std::make_unique<extension::statements>(connection_);
    }
    return *current;
}

void host::release(bool is_for_good) noexcept
{
    is_closing_ = is_closing_ || is_for_good;
    if (depth_ == 0) {
        statements_.clear();
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

bool host::try_begin()
{
    try {
        prepared().savepoint.begin();
        return true;
    } catch (const sqlite::error& refusal) {
        if (!refusal.is_busy()) {
            throw;
        }
        return false;
    }
}

void host::undo(const std::string& reason, bool is_outermost)
{
    if (!connection_.in_transaction()) {
        return; // SQLite has ended all of it
    }
    try {
        if (is_outermost) {
            // Its release would be a commit once more, which a reader may have kept back already.
            connection_.execute("ROLLBACK");
        } else {
            prepared().savepoint.undo();
        }
    } catch (const sqlite::error& failure) {
        throw std::runtime_error(reason + "; additionally, undoing SAVEPOINT " + savepoint_name +
                                 " left the connection in an unknown state: " + failure.what());
    }
}

} // namespace skein::extension
