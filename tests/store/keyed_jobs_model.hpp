#pragma once

#include "store/queue/job_fence.hpp"
#include "store/queue/job_finisher.hpp"
#include "store/queue/keyed_enqueuer.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace skein::store {

/// What jobs with keys, in queues that may be paused, are to their users: no tables, no triggers.
/// The store is held to it.
///
/// It does not say in which order a pause puts jobs aside and gives them back. It is told which
/// ones are aside where that matters.
class keyed_jobs_model {
public:
    using ids = std::set<std::int64_t>;

    enqueued_job enqueue(const new_job& job, const job_keys& keys, std::int64_t now);
    bool change(std::string_view queue, std::int64_t id, const job_change& wanted,
                std::int64_t now);

    /// What a claim gets: those that it comes across in a queue that is paused are put aside.
    std::vector<job_fence> claim(const std::string& queue, const std::string& worker,
                                 std::int64_t visibility, std::size_t most, const ids& aside,
                                 std::int64_t now);
    std::int64_t sweep_expired(std::string_view queue, std::int64_t now);

    bool ack(const job_fence& fence, std::int64_t now);
    retry_outcome retry(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool fail(const job_fence& fence, std::int64_t now);
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now);
    bool release(const job_fence& fence, std::int64_t now);
    bool snooze(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool cancel(std::string_view queue, std::int64_t id);
    void change_all_that_wait(std::string_view queue, std::int64_t priority);
    void cancel_all(std::string_view queue, std::int64_t priority);

    bool pause(const std::string& queue) { return paused_.insert(queue).second; }
    bool resume(const std::string& queue) { return paused_.erase(queue) == 1; }
    [[nodiscard]] bool is_paused(const std::string& queue) const { return paused_.count(queue); }

    bool request_stop(std::string_view queue, std::int64_t id);
    [[nodiscard]] bool is_stop_requested(std::int64_t id, std::int64_t attempt) const;

    /// Whether a claim finds jobs that have expired, or have no attempt left.
    [[nodiscard]] bool must_bury(std::string_view queue, std::int64_t now) const;

    /// When a claim may find something, if nothing else happens.
    [[nodiscard]] std::optional<std::int64_t>
    next_claim_at(const std::string& queue, const ids& aside, std::int64_t now) const;

    /// The job that holds the key.
    [[nodiscard]] std::optional<std::int64_t>
    holder(const std::string& queue, const std::string& key, std::int64_t now) const;

    /// How many of the key run, and how many may.
    [[nodiscard]] std::int64_t running(const std::string& queue, const std::string& key) const;
    [[nodiscard]] const std::map<std::pair<std::string, std::string>, std::int64_t>& limits() const
    {
        return limits_;
    }

    /// A line for each live job and each dead letter, by number.
    [[nodiscard]] std::vector<std::string> live() const;
    [[nodiscard]] std::vector<std::string> dead() const;
    void forget_dead() { dead_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return live_.size(); }
    [[nodiscard]] std::int64_t last_id() const noexcept { return last_id_; }

private:
    struct lease {
        std::string worker;
        std::int64_t end;
    };

    struct stored_job {
        std::string queue;
        std::string payload;
        bool is_ready; ///< not only due
        std::int64_t priority;
        std::int64_t due;
        std::int64_t attempts;
        std::int64_t max_attempts;
        std::optional<std::int64_t> expires_at;
        std::optional<std::string> limit;
        std::optional<lease> held;
    };

    struct unique_entry {
        std::int64_t id;
        bool while_running;
        std::optional<std::int64_t> ends_at;
    };

    using jobs = std::map<std::int64_t, stored_job>;
    using key_name = std::pair<std::string, std::string>;
    using position = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

    static position place_of(const jobs::value_type& job);
    static bool is_lapsed(const stored_job& job, std::int64_t now);
    static bool is_expired(const stored_job& job, std::int64_t now);
    /// Whether nobody may have it any more.
    static bool is_over(const stored_job& job, std::int64_t now);
    jobs::iterator find(const job_fence& fence, std::int64_t now);
    static void set_due(stored_job& job, std::int64_t due, std::int64_t now);
    static void free(stored_job& job, std::int64_t delay, std::int64_t now);
    jobs::iterator bury(jobs::iterator which);
    jobs::iterator remove(jobs::iterator which);
    void keep_house(std::string_view queue, const ids& aside, std::int64_t now);
    /// Those that are held because their key is full.
    [[nodiscard]] ids blocked() const;

    jobs live_;
    std::map<std::int64_t, std::string> dead_;
    std::map<key_name, unique_entry> unique_;
    std::map<key_name, std::int64_t> limits_;
    std::set<std::string, std::less<>> paused_;
    std::map<std::int64_t, std::int64_t> stops_;
    std::int64_t last_id_ = 0;
};

} // namespace skein::store
