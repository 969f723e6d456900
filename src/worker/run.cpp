#include <skein/testing/drain.hpp>
#include <skein/worker.hpp>

#include "runtime/await_run.hpp"
#include "worker/job_source.hpp"
#include "worker/message_source.hpp"
#include "worker/worker_run.hpp"

#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace skein::worker {

namespace {

asio::awaitable<testing::drain_counts> work(std::shared_ptr<task_source> from,
                                            run_settings settings)
{
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto run = std::make_shared<worker_run>(executor, std::move(from), std::move(settings));
    co_await runtime::await_run(run);
    co_return run->counts();
}

asio::awaitable<void> until_the_end(asio::awaitable<testing::drain_counts> work)
{
    co_await std::move(work);
}

template <class Queues>
asio::awaitable<testing::drain_counts> work_on_jobs(const Queues& from,
                                                    handler_function<job> handler,
                                                    const worker_options& options, run_mode mode)
{
    const run_settings settings = checked_settings(options, mode);
    std::shared_ptr<const api::queue_choice_state> where = api::queue_choice_state::of(from);
    where->engine()->require_home();
    where->engine()->require_outside_callback();
    return work(std::make_shared<job_source>(std::move(where), settings, std::move(handler)),
                settings);
}

asio::awaitable<testing::drain_counts> work_on_messages(const transport& from,
                                                        handler_function<message> handler,
                                                        const worker_options& options,
                                                        run_mode mode)
{
    const run_settings settings = checked_settings(options, mode);
    const auto& where = api::transport_state::of(from);
    where->engine->require_home();
    where->engine->require_outside_callback();
    return work(std::make_shared<message_source>(where, settings, std::move(handler)), settings);
}

} // namespace

asio::awaitable<void> run_jobs(const queue& from, handler_function<job> handler,
                               const worker_options& options)
{
    return until_the_end(work_on_jobs(from, std::move(handler), options, run_mode::endless));
}

asio::awaitable<void> run_jobs(const queue_choice& from, handler_function<job> handler,
                               const worker_options& options)
{
    return until_the_end(work_on_jobs(from, std::move(handler), options, run_mode::endless));
}

asio::awaitable<void> run_messages(const transport& from, handler_function<message> handler,
                                   const worker_options& options)
{
    return until_the_end(work_on_messages(from, std::move(handler), options, run_mode::endless));
}

asio::awaitable<testing::drain_counts> drain_jobs(const queue& from, handler_function<job> handler,
                                                  const worker_options& options)
{
    return work_on_jobs(from, std::move(handler), options, run_mode::until_empty);
}

asio::awaitable<testing::drain_counts>
drain_jobs(const queue_choice& from, handler_function<job> handler, const worker_options& options)
{
    return work_on_jobs(from, std::move(handler), options, run_mode::until_empty);
}

asio::awaitable<testing::drain_counts> drain_messages(const transport& from,
                                                      handler_function<message> handler,
                                                      const worker_options& options)
{
    return work_on_messages(from, std::move(handler), options, run_mode::until_empty);
}

} // namespace skein::worker
