#pragma once

#include "extension/call.hpp"
#include "sqlite/savepoint.hpp"
#include "sqlite/statement.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/lock/named_locks.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/notifications.hpp"
#include "store/log/stream_schema.hpp"
#include "store/log/streams.hpp"
#include "store/queue/ack_list.hpp"
#include "store/queue/claim_forecast.hpp"
#include "store/queue/dead_letters.hpp"
#include "store/queue/held_jobs.hpp"
#include "store/queue/job_canceller.hpp"
#include "store/queue/job_changer.hpp"
#include "store/queue/job_claimer.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/queue/job_finisher.hpp"
#include "store/queue/job_results.hpp"
#include "store/queue/keyed_enqueuer.hpp"
#include "store/queue/queue_housekeeping.hpp"
#include "store/queue/queue_inspection.hpp"
#include "store/queue/queue_pauses.hpp"
#include "store/queue/stop_requests.hpp"
#include "store/rate_limit/paced_limits.hpp"
#include "store/rate_limit/rate_limits.hpp"
#include "store/schedule/schedule_schema.hpp"
#include "store/schedule/schedule_tick.hpp"
#include "store/schedule/schedules.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skein::extension {

/// A store whose statements depend on what the file has. That is looked at each time: the tables
/// may have been made, dropped or rolled back meanwhile.
template <class Store>
class shaped_store {
public:
    explicit shaped_store(sqlite::connection connection) : connection_(connection) {}

    Store& get()
    {
        const store::family_shape present = store::inspect_schedules(connection_);
        if (!store_ || present != shape_) {
            store_.emplace(connection_, present);
            shape_ = present;
        }
        return *store_;
    }

private:
    sqlite::connection connection_;
    store::family_shape shape_ = store::family_shape::missing;
    std::optional<Store> store_;
};

/// The prepared statements of one connection. Each is prepared when it is first used.
struct statements {
    explicit statements(sqlite::connection connection);

    sqlite::statement clock;
    sqlite::statement take_write_lock;
    sqlite::savepoint savepoint;

    store::job_enqueuer enqueuer;
    store::keyed_enqueuer keyed;
    store::job_claimer claimer;
    store::claim_forecast forecast;
    store::queue_housekeeping housekeeping;
    store::job_finisher finisher;
    store::ack_list acks;
    store::job_canceller canceller;
    store::job_changer changer;
    store::held_jobs held;
    store::queue_pauses pauses;
    store::stop_requests stops;
    store::dead_letters dead;
    store::queue_inspection inspection;
    store::job_results results;
    store::rate_limits windows;
    store::paced_limits paced;
    // These need none of our additions, which triggers keep. To look for them would begin a reader,
    // and a reader that becomes a writer is not given the time to wait for the lock.
    store::notifications notifications;
    store::streams streams;
    store::named_locks locks;
    shaped_store<store::schedules> schedules;
    shaped_store<store::schedule_tick> tick;
};

/// A connection of the program that has loaded the extension, and what is kept for it.
class host {
public:
    explicit host(sqlite3* handle) : connection_(handle) {}

    [[nodiscard]] sqlite::connection connection() const noexcept { return connection_; }

    /// Around each call. Calls are made inside others where triggers on our tables call functions;
    /// throws `bad_argument` when that goes on and on.
    void enter();
    void leave(bool has_failed) noexcept;

    /// Prepared statements of the call that runs: those of the calls around it are in use. They are
    /// kept for later calls until `release`.
    [[nodiscard]] extension::statements& prepared();

    /// Finalizes the statements: a connection cannot be closed while there are any. `is_for_good`:
    /// it is about to be closed, and from now on none are kept between calls.
    void release(bool is_for_good) noexcept;

    /// What `unixepoch()` returns in SQL: programs may have replaced it.
    [[nodiscard]] std::int64_t read_clock();

    /// Throws `bad_argument` where `atomically` would be refused.
    void require_separate_select(const call& from);

    /// Runs `work`, whole or not at all, inside the caller's transaction or in one of its own that
    /// takes the write lock at once. It is refused where SQLite opens no savepoint: beside a write
    /// statement that has not ended.
    template <class Work>
    auto atomically(const call& from, Work work)
    {
        const bool is_outermost = !connection_.in_transaction();
        begin(from);
        return finish(work, is_outermost);
    }

    /// The same, but not refused there: the write statement has the lock already, and what fails in
    /// it fails as a whole.
    template <class Work>
    auto atomically_anywhere(Work work)
    {
        const bool is_outermost = !connection_.in_transaction();
        return try_begin() ? finish(work, is_outermost) : work();
    }

private:
    template <class Work>
    auto finish(Work& work, bool is_outermost)
    {
        try {
            // Before anything is read: a lock that is taken later can be refused for good.
            prepared().take_write_lock.run();
            auto result = work();
            prepared().savepoint.release();
            return result;
        } catch (const std::exception& failure) {
            undo(failure.what(), is_outermost);
            throw;
        }
    }

    void begin(const call& from);
    [[nodiscard]] bool try_begin();
    void undo(const std::string& reason, bool is_outermost);

    sqlite::connection connection_;
    std::vector<std::unique_ptr<extension::statements>> statements_; ///< of each depth
    std::size_t depth_ = 0;                                          ///< calls that run
    bool is_closing_ = false;
};

} // namespace skein::extension
