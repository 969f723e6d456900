#pragma once

#include "runtime/event_log.hpp"
#include "runtime/source.hpp"
#include "sqlite/connection.hpp"

#include <skein/clock.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace SQLite {
class Database;
}

namespace skein::runtime {

class engine;
class waitlist;

/// What a unit sees while it runs: the open write transaction of its batch.
class batch {
public:
    batch(engine& owner, SQLite::Database& database, const clock& time, waitlist& waiting,
          event_log& events);

    /// The engine that the transaction belongs to.
    [[nodiscard]] const engine& owner() const noexcept { return owner_; }
    [[nodiscard]] SQLite::Database& database() const noexcept { return database_; }
    [[nodiscard]] sqlite::connection connection() const noexcept;

    /// The wall clock, read while the write lock is held.
    [[nodiscard]] clock::wall_time now() const noexcept { return time_.wall_now(); }

    /// Something of this source may have become claimable, or its next due moment has changed.
    void touch(const source& changed);

    /// As `touch`, for some lines of waiters: those whose `accepts` begins with this.
    void touch_lines(const std::string& beginning);

    /// As `touch`, for sources that nobody can name: the user's own statements may write anything.
    void touch_everything();

    /// Calls `check` when the unit that asks for it has done its work, still inside the
    /// transaction: what a savepoint of the user's has undone is not there any more. It may ask for
    /// more actions, not for more checks. Not called when the unit fails.
    void at_end(std::function<void()> check) { checks_.push_back(std::move(check)); }

    /// Calls `action` after the commit, unless the unit that asks for it fails.
    void after_commit(std::function<void()> action) { actions_.push_back(std::move(action)); }

    /// Whether somebody wants to be told what happens: otherwise `note` is not called.
    [[nodiscard]] bool is_observed() const noexcept { return events_.is_wanted(); }

    /// Tells the observer after the commit, unless what happens just now is undone. What `event`
    /// refers to must be there until the unit that runs is complete.
    void note(event_log::event event) { events_.add(std::move(event)); }

    // For the committer.
    [[nodiscard]] std::size_t actions() const noexcept { return actions_.size(); }
    void forget_actions_from(std::size_t first) { actions_.resize(first); }
    void run_actions();
    void run_checks();
    void forget_checks() noexcept { checks_.clear(); }

private:
    engine& owner_;
    SQLite::Database& database_;
    const clock& time_;
    waitlist& waiting_;
    event_log& events_;
    std::vector<std::function<void()>> checks_; ///< of what runs just now
    std::vector<std::function<void()>> actions_;
};

} // namespace skein::runtime
