// The program behind the tests in hosts/: one who uses the C++ interface on a file that a host of
// the loadable extension uses too.
//
//     skein_interop <database>
//
// It reads commands from its input, a line each, their words separated by spaces; the last word may
// contain spaces. Each is answered with one line; "wait <command>" with two: "waiting", once it
// waits, and the answer. The next command is read when the one before has been answered. Its wall
// clock is the machine's, until "serve" puts it forward.

#include <skein/skein.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using wall_time = skein::clock::wall_time;
using answer = asio::awaitable<std::string>;

/// The machine's clock, but for the wall clock, which can be put forward. It does not stand still:
/// what a host enqueues now is due now.
class forward_clock final : public skein::clock {
public:
    void put_forward(std::chrono::seconds distance) { distance_ = distance; }

    wall_time wall_now() const noexcept override { return machine_->wall_now() + distance_.load(); }
    steady_time steady_now() const noexcept override { return machine_->steady_now(); }
    std::unique_ptr<skein::alarm> make_alarm(asio::any_io_executor executor) override
    {
        return machine_->make_alarm(std::move(executor));
    }

private:
    std::shared_ptr<skein::clock> machine_ = skein::system_clock();
    std::atomic<std::chrono::seconds> distance_{0s};
};

/// The words of a command, in their order.
class words {
public:
    explicit words(const std::string& line) : rest_(line) {}

    std::string next()
    {
        std::string word;
        rest_ >> word;
        return word;
    }
    std::int64_t number() { return std::stoll(next()); }
    std::chrono::seconds seconds() { return std::chrono::seconds{number()}; }
    std::string rest()
    {
        std::string text;
        std::getline(rest_ >> std::ws, text);
        return text;
    }

private:
    std::istringstream rest_;
};

/// What the commands keep between them.
struct session {
    explicit session(const std::string& path)
        : clock(std::make_shared<forward_clock>()), database(path, {.clock = clock})
    {
    }

    std::shared_ptr<forward_clock> clock;
    skein::database database;
    std::map<std::int64_t, skein::job_fence> jobs;
    std::map<std::string, std::unique_ptr<skein::listener>> listeners;
    std::map<std::string, std::unique_ptr<skein::consumer>> consumers;
    std::map<std::string, skein::lock_guard> locks;
    bool is_scheduling = false;
};

std::string yes_or_no(bool is_so)
{
    return is_so ? "yes" : "no";
}

// Jobs

answer enqueue(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const std::string payload = given.rest();
    const std::int64_t id = co_await queue.enqueue(payload);
    co_return std::to_string(id);
}

std::string told(const skein::enqueued_job& job)
{
    return std::to_string(job.id) + (job.is_created() ? " created" : " not created");
}

answer enqueue_unique(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const std::string key = given.next();
    const std::string payload = given.rest();
    const skein::enqueued_job job = co_await queue.enqueue(payload, {.unique = {.key = key}});
    co_return told(job);
}

answer enqueue_limited(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const std::string key = given.next();
    const std::string payload = given.rest();
    const skein::enqueued_job job = co_await queue.enqueue(payload, {.concurrency = {.key = key}});
    co_return told(job);
}

answer pause(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const bool has_changed = co_await queue.pause();
    co_return yes_or_no(has_changed);
}

answer request_stop(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const bool is_requested = co_await queue.request_stop(given.number());
    co_return yes_or_no(is_requested);
}

std::string keep(session& with, skein::job job)
{
    const std::string text = std::to_string(job.id()) + " " + std::to_string(job.attempt()) + " " +
                             std::string(job.payload());
    skein::job_fence fence = job.detach();
    with.jobs[fence.id()] = std::move(fence);
    return text;
}

answer claim(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const std::string worker = given.next();
    skein::job job = co_await queue.claim(worker);
    co_return keep(with, std::move(job));
}

answer try_claim(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const std::string worker = given.next();
    auto job = co_await queue.try_claim(worker);
    co_return job ? keep(with, std::move(*job)) : "nothing";
}

/// A claim that somebody else has made.
answer adopt(session& with, words given)
{
    const std::int64_t id = given.number();
    const std::string worker = given.next();
    with.jobs[id] = skein::job_fence(id, worker, given.number());
    co_return "adopted";
}

answer ack(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const skein::job_fence fence = with.jobs.at(given.number());
    const bool is_done = co_await queue.ack(fence);
    co_return yes_or_no(is_done);
}

answer retry(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const skein::job_fence fence = with.jobs.at(given.number());
    const skein::retry_outcome outcome = co_await queue.retry(fence, 0s, "tried in C++");
    co_return outcome == skein::retry_outcome::dead ? "dead"
    : outcome == skein::retry_outcome::waiting      ? "waiting again"
                                                    : "stale";
}

answer fail(session& with, words given)
{
    const skein::queue queue = with.database.queue(given.next());
    const skein::job_fence fence = with.jobs.at(given.number());
    const bool is_done = co_await queue.fail(fence, "failed in C++");
    co_return yes_or_no(is_done);
}

answer save_result(session& with, words given)
{
    const std::int64_t id = given.number();
    const std::string text = given.rest();
    const skein::results results = with.database.results();
    co_await results.save(id, text);
    co_return "saved";
}

answer end_of_job(session& with, words given)
{
    const skein::results results = with.database.results();
    const skein::job_end end = co_await results.wait(given.number());
    co_return end.result ? *end.result
    : end.death          ? "dead: " + end.death->last_error.value_or("")
                         : "gone";
}

// Streams and notifications

answer publish(session& with, words given)
{
    const skein::stream stream = with.database.stream(given.next());
    const std::string payload = given.rest();
    const std::int64_t offset = co_await stream.publish(payload);
    co_return std::to_string(offset);
}

answer subscribe(session& with, words given)
{
    const skein::stream stream = with.database.stream(given.next());
    const std::string name = given.next();
    skein::consumer fresh = co_await stream.consumer(name);
    with.consumers[name] = std::make_unique<skein::consumer>(std::move(fresh));
    co_return std::to_string(with.consumers[name]->offset());
}

/// Saves that it is done with it, too.
answer consume(session& with, words given)
{
    skein::consumer& consumer = *with.consumers.at(given.next());
    const skein::stream_event event = co_await consumer.next();
    co_await consumer.save();
    co_return std::to_string(event.offset) + " " + event.payload;
}

answer notify(session& with, words given)
{
    const std::string channel = given.next();
    const std::string payload = given.rest();
    const std::int64_t id = co_await with.database.notify(channel, payload);
    co_return std::to_string(id);
}

answer listen(session& with, words given)
{
    const std::string channel = given.next();
    skein::listener fresh = co_await with.database.listen(channel);
    with.listeners[channel] = std::make_unique<skein::listener>(std::move(fresh));
    co_return "listening";
}

answer hear(session& with, words given)
{
    skein::listener& listener = *with.listeners.at(given.next());
    const skein::notification heard = co_await listener.next();
    co_return std::to_string(heard.id) + " " + heard.payload;
}

// Locks and limits

answer lock(session& with, words given)
{
    const std::string name = given.next();
    const skein::named_lock wanted = with.database.lock(name, {.ttl = 300s});
    skein::lock_guard guard = co_await wanted.acquire();
    const std::int64_t fence = guard.fence().value_or(0);
    with.locks[name] = std::move(guard);
    co_return "fence " + std::to_string(fence);
}

answer try_lock(session& with, words given)
{
    const skein::named_lock wanted = with.database.lock(given.next());
    const auto guard = co_await wanted.try_acquire();
    co_return guard ? "held" : "taken";
}

answer holder(session& with, words given)
{
    const skein::named_lock asked = with.database.lock(given.next());
    const auto found = co_await asked.holder();
    co_return found ? found->owner + " fence " + std::to_string(found->fence.value_or(0))
                    : "nobody";
}

answer renew(session& with, words given)
{
    const bool is_ours = co_await with.locks.at(given.next()).renew();
    co_return yes_or_no(is_ours);
}

answer release(session& with, words given)
{
    const bool was_ours = co_await with.locks.at(given.next()).release();
    co_return yes_or_no(was_ours);
}

answer take(session& with, words given)
{
    const std::string name = given.next();
    const std::int64_t permits = given.number();
    const std::chrono::seconds per = given.seconds();
    const skein::rate_limit limit =
        with.database.rate_limit(name, {.permits = permits, .per = per});
    const bool is_allowed = co_await limit.try_take();
    co_return yes_or_no(is_allowed);
}

// Schedules

answer schedule(session& with, words given)
{
    const std::string name = given.next();
    const std::string queue = given.next();
    const skein::scheduler scheduler = with.database.scheduler();
    const std::string expression = given.rest();
    co_await scheduler.add(name, queue, expression, "\"scheduled in C++\"");
    co_return "added";
}

void rethrow(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Until all that is due so many seconds from now has been served, by whomever.
answer serve(session& with, words given)
{
    const skein::scheduler scheduler = with.database.scheduler();
    asio::steady_timer timer(co_await asio::this_coro::executor);
    with.clock->put_forward(given.seconds());
    if (!std::exchange(with.is_scheduling, true)) {
        asio::co_spawn(timer.get_executor(), scheduler.run(), rethrow);
    }
    while (true) {
        const auto soonest = co_await scheduler.soonest();
        if (!soonest || *soonest > with.clock->wall_now()) {
            co_return "served";
        }
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

const std::map<std::string, answer (*)(session&, words)> commands{
    {"enqueue", enqueue},
    {"enqueue_unique", enqueue_unique},
    {"enqueue_limited", enqueue_limited},
    {"pause", pause},
    {"request_stop", request_stop},
    {"claim", claim},
    {"try_claim", try_claim},
    {"adopt", adopt},
    {"ack", ack},
    {"retry", retry},
    {"fail", fail},
    {"save_result", save_result},
    {"end_of_job", end_of_job},
    {"publish", publish},
    {"subscribe", subscribe},
    {"consume", consume},
    {"notify", notify},
    {"listen", listen},
    {"hear", hear},
    {"lock", lock},
    {"try_lock", try_lock},
    {"holder", holder},
    {"renew", renew},
    {"release", release},
    {"take", take},
    {"schedule", schedule},
    {"serve", serve}};

/// The database does one thing after the other: what was begun before has found nothing by the time
/// that this is done.
asio::awaitable<void> let_others_begin(session& with)
{
    co_await with.database.queues();
}

void say(const std::string& line)
{
    std::cout << line << '\n' << std::flush;
}

std::string run(asio::io_context& context, session& with, words given)
{
    std::string name = given.next();
    const bool is_waiting = name == "wait";
    if (is_waiting) {
        name = given.next();
    }
    auto answered =
        asio::co_spawn(context, commands.at(name)(with, std::move(given)), asio::use_future);
    if (is_waiting) {
        asio::co_spawn(context, let_others_begin(with), asio::use_future).get();
        const bool is_early = answered.wait_for(0s) == std::future_status::ready;
        say(is_early ? "not waiting" : "waiting");
    }
    return answered.get();
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2) {
        return 2;
    }
    session current(arguments[1]);
    asio::io_context context;
    const auto working = asio::make_work_guard(context);
    const std::jthread worker([&] { context.run(); });
    for (std::string line; std::getline(std::cin, line);) {
        try {
            say(run(context, current, words(line)));
        } catch (const std::exception& failure) {
            say(std::string("error: ") + failure.what());
        }
    }
    context.stop();
}
