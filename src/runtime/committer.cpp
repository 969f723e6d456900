#include "runtime/committer.hpp"

#include "runtime/failure.hpp"
#include "runtime/opening.hpp"

#include <SQLiteCpp/Database.h>

namespace skein::runtime {

namespace {

const std::string savepoint_name = "skein_unit";

// The write lock is shared with other processes: nobody should hold it for long.
constexpr std::size_t largest_batch = 1000;
constexpr std::chrono::milliseconds longest_batch{10};

/// In a rollback journal a commit needs the exclusive lock, which readers of other processes can
/// deny it. Taken at the beginning, nothing can be denied later; with a write-ahead log there is no
/// difference to make. The file decides, not the option: it may have been refused.
std::string begin_text(sqlite::connection connection)
{
    return journal_of(connection) == "wal" ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE";
}

} // namespace

committer::committer(engine& owner, SQLite::Database& database, const clock& time, std::string file)
    : owner_(owner), database_(database), connection_(database.getHandle()), time_(time),
      file_(std::move(file)), guard_(connection_, savepoint_name),
      begin_(connection_, begin_text(connection_)), commit_(connection_, "COMMIT"),
      rollback_(connection_, "ROLLBACK"), savepoint_(connection_, savepoint_name)
{
}

bool committer::run(std::deque<std::shared_ptr<unit>>& queue, waitlist& waiting)
{
    if (!begin()) {
        return false;
    }
    started_ = time_.steady_now();
    batch current(owner_, database_, time_, waiting);
    if (lines_come_first_) {
        serve_lines(waiting, current);
    }
    run_units(queue, current);
    serve_lines(waiting, current);
    lines_come_first_ = !lines_come_first_ && !has_room() && waiting.has_changed();
    end(current, waiting);
    return true;
}

bool committer::begin()
{
    try {
        begin_.run();
        return true;
    } catch (const sqlite::error& refusal) {
        if (refusal.is_busy()) {
            return false;
        }
        throw;
    }
}

void committer::run_units(std::deque<std::shared_ptr<unit>>& queue, batch& batch)
{
    while (!queue.empty() && !broken_ && has_room()) {
        const std::shared_ptr<unit> next = std::move(queue.front());
        queue.pop_front();
        if (next->is_unwanted()) {
            next->complete(cancelled_failure());
        }
        if (!next->is_complete()) {
            const std::exception_ptr failure =
                run_alone(next->how_isolated(), batch, [&] { next->run(batch); });
            members_.push_back({next, failure});
        }
    }
}

void committer::serve_lines(waitlist& waiting, batch& batch)
{
    waiting.visit_changed([&](line& each) {
        if (!broken_) {
            serve_line(each, waiting, batch);
        }
        return !broken_ && has_room();
    });
}

void committer::serve_line(line& served, waitlist& waiting, batch& batch)
{
    while (!served.waiters.empty() && !broken_ && has_room()) {
        waiter& head = *served.waiters.front();
        if (head.is_unwanted()) {
            waiting.leave(head)->complete(cancelled_failure());
            continue;
        }
        bool is_served = false;
        const std::exception_ptr failure =
            run_alone(isolation::savepoint, batch, [&] { is_served = head.serve(batch); });
        if (!is_served && !failure) {
            waiting.settle_empty(served);
            return;
        }
        served.locked_since.reset();
        members_.push_back({waiting.leave(head), failure});
    }
}

/// Runs a part of the batch so that a failure undoes this part and nothing else. Returns the
/// failure.
template <class Work>
std::exception_ptr committer::run_alone(isolation kind, batch& batch, Work work)
{
    const std::size_t actions = batch.actions();
    std::exception_ptr failure;
    try {
        if (kind != isolation::statement) {
            savepoint_.begin();
        }
        if (kind == isolation::callback) {
            const callback_guard::scope guarded(guard_, callback_guard::mode::writing);
            work();
        } else {
            work();
        }
        if (connection_.has_violated_foreign_keys()) {
            // A commit would fail, and with it all the others.
            throw sqlite::error(SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed");
        }
        if (kind != isolation::statement && connection_.in_transaction()) {
            savepoint_.release();
        }
    } catch (...) {
        failure = translate(std::current_exception(), file_);
        batch.forget_actions_from(actions);
    }
    // Whatever the error code: once SQLite has ended the transaction, the batch is gone.
    if (!connection_.in_transaction()) {
        break_batch(failure);
    } else if (failure && kind != isolation::statement) {
        undo_alone(failure);
    }
    return failure;
}

void committer::undo_alone(const std::exception_ptr& failure)
{
    try {
        savepoint_.undo();
    } catch (const sqlite::error&) {
        break_batch(failure);
    }
}

void committer::break_batch(const std::exception_ptr& failure)
{
    try {
        if (failure) {
            std::rethrow_exception(failure);
        }
        broken_.emplace(errc::storage_failure,
                        file_ + ": SQLite ended the transaction inside a callback");
    } catch (const error& reason) {
        broken_ = reason;
    } catch (const std::exception& reason) {
        const sqlite::error cause(
            sqlite3_extended_errcode(connection_.handle()),
            std::string("another operation of the batch ended its transaction: ") + reason.what());
        broken_ = to_error(cause, file_);
    } catch (...) {
        broken_.emplace(errc::storage_failure,
                        file_ + ": another operation of the batch ended its transaction");
    }
}

void committer::end(batch& batch, waitlist& waiting)
{
    if (!broken_) {
        try {
            commit_.run();
        } catch (const sqlite::error& refusal) {
            broken_ = to_error(refusal, file_);
        }
    }
    if (broken_) {
        roll_back();
        waiting.mark_all(); // what the lines found was undone
    }
    complete_members(batch);
    members_.clear();
    broken_.reset();
}

/// After a failure, which is the one to be told; SQLite may have ended the transaction already.
void committer::roll_back() noexcept
{
    try {
        if (connection_.in_transaction()) {
            rollback_.run();
        }
    } catch (const sqlite::error&) {
    }
}

void committer::complete_members(batch& batch)
{
    if (!broken_) {
        batch.run_actions();
    }
    for (member& each : members_) {
        if (each.failure) {
            each.done->complete(std::move(each.failure));
        } else if (broken_) {
            each.done->complete(std::make_exception_ptr(*broken_));
        } else {
            each.done->committed();
            each.done->complete();
        }
    }
}

bool committer::has_room() const
{
    return members_.size() < largest_batch && time_.steady_now() - started_ < longest_batch;
}

} // namespace skein::runtime
