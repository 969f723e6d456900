#pragma once

#include "runtime/batch.hpp"
#include "runtime/callback_guard.hpp"
#include "runtime/event_log.hpp"
#include "runtime/unit.hpp"
#include "runtime/waitlist.hpp"
#include "sqlite/savepoint.hpp"
#include "sqlite/statement.hpp"

#include <skein/clock.hpp>
#include <skein/error.hpp>

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skein::runtime {

/// Runs everything that waits to be written in one transaction, and completes it after the commit:
/// a commit costs an fsync, the statements in it are cheap.
///
/// A unit that fails is undone alone. To keep each apart from the others would cost more than its
/// work, so they run together; when one fails, they are undone and run one by one.
/// When SQLite ends the transaction by itself, or the commit
/// fails, the batch has failed: none of it has happened, and all of it gets the first error.
class committer {
public:
    committer(engine& owner, SQLite::Database& database, const clock& time, std::string file,
              event_sink& told);

    /// Runs one batch: units from the front of the queue, then the lines of waiters for which
    /// something may be there. Returns false when another process holds the lock: nothing has
    /// happened then.
    bool run(std::deque<std::shared_ptr<unit>>& queue, waitlist& waiting);

    [[nodiscard]] callback_guard& guard() noexcept { return guard_; }

private:
    struct member {
        std::shared_ptr<operation> done;
        std::exception_ptr failure;

        [[nodiscard]] bool has_failed() const noexcept { return failure != nullptr; }
    };

    bool begin();
    void run_units(std::deque<std::shared_ptr<unit>>& queue, batch& batch);
    void run_some(std::deque<std::shared_ptr<unit>>& queue, batch& batch);
    void tell_failure(std::size_t first, const std::exception_ptr& failure,
                      std::deque<std::shared_ptr<unit>>& queue, batch& batch);
    void run_one_by_one(std::size_t first, batch& batch);
    void run_unit(unit& wanted, batch& batch);
    void serve_lines(waitlist& waiting, batch& batch);
    void serve_line(line& served, waitlist& waiting, batch& batch);
    std::vector<waiter*> first_wanted(line& from, std::size_t most, waitlist& waiting);
    template <class Work>
    std::exception_ptr run_undoable(batch& batch, bool is_callback, Work work);
    void undo(bool has_savepoint, const std::exception_ptr& failure);
    void give_back(std::deque<std::shared_ptr<unit>>& queue);
    void break_batch(const std::exception_ptr& failure);
    void end(batch& batch, waitlist& waiting);
    void roll_back() noexcept;
    void commit();
    void complete_members(batch& batch);
    void tell_end();
    void reset() noexcept;
    [[nodiscard]] bool goes_on() const;
    [[nodiscard]] bool has_room() const;

    engine& owner_;
    SQLite::Database& database_;
    sqlite::connection connection_;
    const clock& time_;
    std::string file_;
    event_sink& told_;
    callback_guard guard_;
    event_log events_;
    sqlite::statement begin_;
    sqlite::statement commit_;
    sqlite::statement rollback_;
    sqlite::savepoint savepoint_;
    bool lines_come_first_ = false; ///< the last batch was full before it came to them

    // The batch that is being run.
    std::vector<member> members_;
    std::size_t failed_ = 0;      ///< operations that have failed alone, and are not told of yet
    std::optional<error> broken_; ///< why it has failed
    bool has_worked_ = false;     ///< it has done something that a later failure must not undo
    bool has_lost_lock_ = false;  ///< it was undone, and another process came first
    clock::steady_time started_;
    // If somebody is told:
    clock::steady_time commit_begun_;
    clock::steady_time committed_;
};

} // namespace skein::runtime
