#pragma once

#include <skein/queue.hpp>

#include <initializer_list>

namespace skein {

namespace api {
struct queue_choice_state;
}

/// Several queues of one database to claim from in one wait, by order of preference: a job of a
/// later queue is claimed only when none of the earlier ones is due.
///
///     const skein::queue_choice work{urgent, normal};
///     skein::job job = co_await work.claim();
///
/// The verbs are those of `queue`. A job is leased for the `visibility` of its queue's handle
/// unless the claim says otherwise.
///
/// A handle, as `queue` is.
class SKEIN_EXPORT queue_choice {
public:
    /// Throw: `errc::invalid_argument` for no queue at all, for more than 100, for one that is
    /// there twice, and for queues of different databases.
    explicit queue_choice(std::span<const queue> queues);
    queue_choice(std::initializer_list<queue> queues);

    /// Leases the first job of the first queue that has one due. Waits without limit until one of
    /// them has. Errors, threads and cancellation: as `queue::claim`.
    [[nodiscard]] asio::awaitable<job> claim(job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<job> claim(std::string_view worker) const;

    /// Leases a job if one is due now.
    ///
    /// Returns: nothing when none is.
    [[nodiscard]] asio::awaitable<std::optional<job>>
    try_claim(job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<job>> try_claim(std::string_view worker) const;

    /// Leases a job; waits for at most `limit`, which is as in `queue::claim_within`.
    ///
    /// Returns: nothing when the limit has passed.
    [[nodiscard]] asio::awaitable<std::optional<job>>
    claim_within(duration limit, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::optional<job>> claim_within(duration limit,
                                                                   std::string_view worker) const;

    /// Leases up to `most` jobs, 1 to 1000, in one commit: those of the first queue and, where they
    /// are not enough, of the next. Otherwise as `queue::claim_many`.
    [[nodiscard]] asio::awaitable<std::vector<job>>
    claim_many(std::size_t most, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<job>>
    try_claim_many(std::size_t most, job_claim_options options = {}) const;
    [[nodiscard]] asio::awaitable<std::vector<job>>
    claim_many_within(duration limit, std::size_t most, job_claim_options options = {}) const;

private:
    friend class queue;
    friend struct api::queue_choice_state;

    explicit queue_choice(std::shared_ptr<const api::queue_choice_state> state) noexcept;

    std::shared_ptr<const api::queue_choice_state> state_;
};

} // namespace skein
