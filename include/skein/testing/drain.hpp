#pragma once

#include <skein/export.hpp>
#include <skein/handler.hpp>
#include <skein/queue.hpp>
#include <skein/queue_choice.hpp>
#include <skein/transport.hpp>
#include <skein/worker_options.hpp>

#include <asio/awaitable.hpp>

#include <cstddef>
#include <utility>

namespace skein::testing {

/// What has come of the jobs that `drain` has run. One that was tried twice counts twice.
struct drain_counts {
    std::size_t finished = 0; ///< the handler has returned
    std::size_t retried = 0;  ///< to be tried again
    std::size_t dead = 0;     ///< dead letters; of a transport: parked for `backoff.most`
    std::size_t snoozed = 0;  ///< put off by the handler
    std::size_t settled = 0;  ///< finished by the handler itself, or moved away
    std::size_t lost = 0;     ///< not ours any more when the handler had ended

    [[nodiscard]] bool operator==(const drain_counts&) const = default;
};

} // namespace skein::testing

namespace skein::worker {

// What `drain` comes down to.
[[nodiscard]] SKEIN_EXPORT asio::awaitable<testing::drain_counts>
drain_jobs(const queue& from, handler_function<job> handler, const worker_options& options);
[[nodiscard]] SKEIN_EXPORT asio::awaitable<testing::drain_counts>
drain_jobs(const queue_choice& from, handler_function<job> handler, const worker_options& options);
[[nodiscard]] SKEIN_EXPORT asio::awaitable<testing::drain_counts>
drain_messages(const transport& from, handler_function<message> handler,
               const worker_options& options);

} // namespace skein::worker

namespace skein::testing {

/// Runs everything that is due now, one after the other, as `skein::run` would, until nothing is:
/// also what the handler enqueues meanwhile. For tests of handlers.
///
///     const skein::testing::drain_counts counts = co_await drain(emails, send);
///     EXPECT_EQ(counts.finished, 3);
///
/// What fails is due again after its pause: move the clock (see `manual_clock`) and drain again.
/// A handler that puts its job off for no time at all is called without end.
///
/// `options`: as for `run`, but `concurrency` is 1.
/// Throws: as `run`, and every failure of the database.
/// Cancellation: as `run`; what was handled by then is told.
template <class Handler>
[[nodiscard]] asio::awaitable<drain_counts> drain(const queue& from, Handler&& handler,
                                                  worker_options options = {})
{
    return worker::drain_jobs(from, worker::make_handler<job>(std::forward<Handler>(handler)),
                              options);
}
template <class Handler>
[[nodiscard]] asio::awaitable<drain_counts> drain(const queue_choice& from, Handler&& handler,
                                                  worker_options options = {})
{
    return worker::drain_jobs(from, worker::make_handler<job>(std::forward<Handler>(handler)),
                              options);
}
template <class Handler>
[[nodiscard]] asio::awaitable<drain_counts> drain(const transport& from, Handler&& handler,
                                                  worker_options options = {})
{
    return worker::drain_messages(
        from, worker::make_handler<message>(std::forward<Handler>(handler)), options);
}

} // namespace skein::testing
