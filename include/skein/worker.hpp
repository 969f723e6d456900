#pragma once

#include <skein/export.hpp>
#include <skein/handler.hpp>
#include <skein/handler_outcome.hpp>
#include <skein/queue.hpp>
#include <skein/queue_choice.hpp>
#include <skein/transport.hpp>
#include <skein/worker_options.hpp>

#include <asio/awaitable.hpp>

#include <utility>

namespace skein {

namespace worker {

// What `run` comes down to. Throw `errc::invalid_argument` and `errc::forked` from the call itself.
[[nodiscard]] SKEIN_EXPORT asio::awaitable<void>
run_jobs(const queue& from, handler_function<job> handler, const worker_options& options);
[[nodiscard]] SKEIN_EXPORT asio::awaitable<void>
run_jobs(const queue_choice& from, handler_function<job> handler, const worker_options& options);
[[nodiscard]] SKEIN_EXPORT asio::awaitable<void> run_messages(const transport& from,
                                                              handler_function<message> handler,
                                                              const worker_options& options);

} // namespace worker

/// Works on the jobs of a queue, until it is cancelled: claims them, calls the handler for each,
/// several at once, and puts down what has come of it.
///
///     const auto send = [&](email mail) -> asio::awaitable<void> { co_await server.send(mail); };
///     co_await skein::run(emails, send, {.concurrency = 20, .time_limit = 30s});
///
/// **The handler** is a coroutine, and takes the payload, the job, or both in this order:
/// `(T payload)`, `(skein::job& job)`, `(skein::job& job, T payload)`. `T` is `std::string_view`
/// (valid until the coroutine ends) or `std::string`, which get the payload as it is, or a type
/// with a `payload_codec` (see <skein/json.hpp>). Its copy here lives until the last call of it has
/// ended. Each call runs on a strand of its own over the executor of `run`: where that has several
/// threads, calls run at the same time; give `run` a strand, and they do not.
///
/// **What comes of the job** is told by how the handler ends:
/// - it returns: the job is done. What it returns is kept as the job's result (see `results`), in
///   the same commit: text, which must be JSON, or a type with a `payload_codec`;
/// - it throws `permanent_failure`: the job is a dead letter with that text. So is one whose
///   payload cannot be decoded;
/// - it throws `snooze`: the job is put off, and the attempt does not count;
/// - it throws anything else, or what it has returned cannot be kept: another attempt after
///   `worker_options::backoff`, or, when that was the last, a dead letter with the text;
/// - it was cancelled because somebody has asked the job to stop (see `queue::request_stop`), and
///   throws: the job is a dead letter that says so;
/// - it has settled the job itself (with `job.ack(tx)` in a transaction of its own, say) or moved
///   it away: nothing more.
///
/// If that cannot be written, because the disk is full, say, it is tried again, after growing
/// pauses, until the lease has lapsed: then somebody does the job once more.
///
/// **Leases** are extended three times in their length, all of them together, for as long as the
/// handler goes on, also after a stop. That happens on the executor of the database: with a thread
/// of its own, a handler that blocks the caller's thread does not lose its lease. When a lease is
/// lost all the same (another worker has taken the job, or it was cancelled), the handler is
/// cancelled; whatever it does then, the job is somebody else's. A job whose turn comes only when
/// its lease has lapsed, since handlers blocked the thread for that long, is given back unbegun.
///
/// **A handler is cancelled** terminally, on its own executor: what it awaits ends with
/// `operation_aborted`. This happens when its lease is lost, somebody has asked the job to
/// stop, its time limit has passed, or a stop does not wait any longer. A handler that has returned
/// in spite of it is done.
///
/// **A stop** is asked for by cancelling `run`, with any type of cancellation. From then on nothing
/// is claimed, and what was claimed just then is given back. Handlers go on until `soft_deadline`,
/// and are then cancelled; a second cancellation does so at once. The jobs of those that were
/// cancelled are given back: at once, and counted as tried if somebody has looked at the payload
/// (see `job`). Those that still go on at `hard_deadline` are left behind: they may go on, and what
/// they need of `run` stays, but their jobs are given back. Then `run` returns, and holds nothing.
/// An idle worker returns at once.
///
/// **Failures of the database** end nothing: they are logged as warnings (see
/// `database_options::log`) and what has failed is tried again, after pauses that grow to 30 s.
///
/// Returns: after a stop; never by itself.
/// Throws: `errc::invalid_argument`, naming the option, and `errc::forked` from the call itself;
/// `errc::closed`, `errc::file_replaced` and `errc::schema_too_new`, which nobody can recover from,
/// when the handlers have ended as after a stop.
/// Threads: safe from any thread; resumes on the caller's executor.
template <class Handler>
[[nodiscard]] asio::awaitable<void> run(const queue& from, Handler&& handler,
                                        worker_options options = {})
{
    return worker::run_jobs(from, worker::make_handler<job>(std::forward<Handler>(handler)),
                            options);
}

/// The same for several queues; a job of a later one is claimed only when none of the earlier ones
/// is due.
template <class Handler>
[[nodiscard]] asio::awaitable<void> run(const queue_choice& from, Handler&& handler,
                                        worker_options options = {})
{
    return worker::run_jobs(from, worker::make_handler<job>(std::forward<Handler>(handler)),
                            options);
}

/// The same for the messages of a transport, of any priority and routing key. The handler takes
/// `message&` instead of `job&` and returns nothing. The messages of one group are handled one
/// after the other, in their order; different groups at once.
///
/// A message has no count of attempts and no dead letters. One whose handler has failed is given
/// back with the pause of `worker_options::backoff` for as many failures as this `run` has seen of
/// it. After a `permanent_failure`, or with a payload that cannot be decoded, the pause is
/// `backoff.most`, and a warning says so: nothing is lost, its group waits for it, and others go
/// on. See `transport::unpark` for trying it sooner.
template <class Handler>
[[nodiscard]] asio::awaitable<void> run(const transport& from, Handler&& handler,
                                        worker_options options = {})
{
    return worker::run_messages(from, worker::make_handler<message>(std::forward<Handler>(handler)),
                                options);
}

} // namespace skein
