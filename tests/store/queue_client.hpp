#pragma once

#include "store/queue/claim_forecast.hpp"
#include "store/queue/job_canceller.hpp"
#include "store/queue/job_claimer.hpp"
#include "store/queue/job_enqueuer.hpp"
#include "store/queue/job_finisher.hpp"
#include "store/queue/queue_housekeeping.hpp"
#include "support/plain_connection.hpp"
#include "support/write_transaction.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skein::store {

/// One connection to a file with queues in it; every call is a transaction of its own, as the
/// runtime would run it. The queue is "q" unless another is named.
class queue_client {
public:
    explicit queue_client(const std::filesystem::path& path);

    std::int64_t enqueue(const new_job& job, std::int64_t now);
    std::int64_t enqueue(std::string_view payload, std::int64_t now);

    std::optional<claimed_job> claim(std::int64_t now, std::int64_t visibility = 30,
                                     std::string_view worker = "w");
    std::vector<claimed_job> claim_many(std::int64_t most, std::int64_t now,
                                        std::int64_t visibility = 30,
                                        std::string_view worker = "w");

    job_claimer::some_jobs claim_some(std::int64_t most, std::int64_t now);

    /// The payload of a claim, or "none".
    std::string claim_payload(std::int64_t now, std::int64_t visibility = 30);

    bool has_work(std::int64_t now) { return claimer_.has_work("q", now); }
    std::optional<std::int64_t> next_claim_at(std::int64_t now)
    {
        return forecast_.next_claim_at("q", now);
    }
    std::int64_t sweep_expired(std::int64_t now);

    bool ack(const job_fence& fence, std::int64_t now);
    retry_outcome retry(const job_fence& fence, std::int64_t delay, std::string_view error,
                        std::int64_t now);
    bool fail(const job_fence& fence, std::string_view error, std::int64_t now);
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now);
    bool release(const job_fence& fence, std::int64_t now);
    bool snooze(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool cancel(std::int64_t id);
    bool cancel(std::string_view queue, std::int64_t id);

    [[nodiscard]] const support::plain_connection& file() const noexcept { return file_; }
    [[nodiscard]] sqlite::connection connection() const noexcept
    {
        return sqlite::connection(file_.handle());
    }

    /// Runs `function` in a write transaction.
    template <class Function>
    auto write(Function&& function)
    {
        return support::in_write_transaction(file_, std::forward<Function>(function));
    }

    /// Columns of a live job or a dead letter, joined by "|"; empty when there is no such row.
    [[nodiscard]] std::string live(std::int64_t id, const std::string& columns) const;
    [[nodiscard]] std::string dead(std::int64_t id, const std::string& columns) const;

private:
    static support::plain_connection& prepared(support::plain_connection& file);

    support::plain_connection file_;
    job_enqueuer enqueuer_;
    job_claimer claimer_;
    claim_forecast forecast_;
    job_finisher finisher_;
    job_canceller canceller_;
    queue_housekeeping housekeeping_;
};

/// The fence of programs that know only their own name.
[[nodiscard]] job_fence unfenced(const job_fence& fence);

} // namespace skein::store
