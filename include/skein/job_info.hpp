#pragma once

#include <skein/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skein {

namespace api {
struct job_info_maker;
}

/// What is to become of a job next.
enum class job_state {
    pending,    ///< it can be claimed
    scheduled,  ///< it waits until it is due; the first claim after that makes it pending
    processing, ///< it was claimed; also when the lease has lapsed and nobody has come since
    dead,       ///< nobody will run it, see `dead_letters`
    other,      ///< another program has written a state of its own: no claim takes it
};

/// A place in a list of jobs: the next page begins behind it, whatever has happened to the job that
/// it was made of. Plain numbers, so that it can be stored or sent.
struct job_place {
    std::int64_t priority = 0; ///< counts in a list of pending jobs only
    std::int64_t time = 0;     ///< epoch seconds: due, end of the lease, or death
    std::int64_t id = 0;

    friend bool operator==(const job_place&, const job_place&) = default;
};

/// A job as it is found in the file, live or dead. All times are whole seconds.
struct job_info {
    std::int64_t id = 0;
    std::string queue;
    std::string payload; ///< byte for byte, whatever wrote it
    job_state state = job_state::other;
    std::int64_t priority = 0;
    clock::wall_time run_at; ///< when it is due, or was
    /// Whether it is kept from being claimed, although `scheduled` is all that other programs see:
    /// its queue is paused, or too many jobs of its key run (see `concurrency_options`).
    bool is_held = false;

    /// Of the claim that is under way, or whose lease has lapsed: who has it, and the last second
    /// in which the lease holds.
    std::optional<std::string> worker;
    std::optional<clock::wall_time> leased_until;
    /// Since when the worker has had it, only while the lease holds: from the difference to now
    /// follows how long it has been running. Absent also where the program that has claimed it does
    /// not write that.
    std::optional<clock::wall_time> claimed_at;

    std::int64_t attempts = 0; ///< claims so far
    std::int64_t max_attempts = 0;
    clock::wall_time created_at;
    std::optional<clock::wall_time>
        expires_at; ///< from when on it is worthless; not kept of a dead

    // Of a dead one only.
    std::optional<std::string> last_error; ///< absent: nobody gave one
    std::optional<clock::wall_time> died_at;

    /// Its place in the list that it is from, for the next page.
    [[nodiscard]] const job_place& place() const noexcept { return place_; }

private:
    friend struct api::job_info_maker;

    job_place place_;
};

/// Which jobs `queue::list` tells.
struct job_list_options {
    /// At most so many; at least 1. Other operations wait while a page is read: keep it small.
    std::size_t limit = 100;

    /// Those behind this place: that of the last job of the page before, in a list of the same
    /// state. Absent: from the first on.
    std::optional<job_place> after = {};
};

/// How much there is in a queue. Jobs in states that another program has invented do not count.
struct queue_counts {
    std::size_t pending = 0;
    std::size_t scheduled = 0;  ///< those that have fallen due since the last claim included
    std::size_t held = 0;       ///< of those that are scheduled, see `job_info::is_held`
    std::size_t processing = 0; ///< claimed, be the lease lapsed or not
    std::size_t lapsed = 0;     ///< of those that are processing
    std::size_t dead = 0;

    /// Since when the one of the pending jobs has been due that has waited longest.
    std::optional<clock::wall_time> oldest_ready;
    /// When the first of the scheduled jobs that are not held is due, or was if no claim has come
    /// since.
    std::optional<clock::wall_time> next_due;

    /// Adds what there is in another queue; of the times the earlier ones remain.
    queue_counts& operator+=(const queue_counts& other) noexcept
    {
        const auto keep_earlier = [](auto& mine, const auto& theirs) {
            if (theirs && (!mine || *theirs < *mine)) {
                mine = theirs;
            }
        };
        pending += other.pending;
        scheduled += other.scheduled;
        held += other.held;
        processing += other.processing;
        lapsed += other.lapsed;
        dead += other.dead;
        keep_earlier(oldest_ready, other.oldest_ready);
        keep_earlier(next_due, other.next_due);
        return *this;
    }
};

/// A queue of the file, as `database::queues` tells it.
struct named_queue_counts {
    std::string name;
    queue_counts counts;
};

} // namespace skein
