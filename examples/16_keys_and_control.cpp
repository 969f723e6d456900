// Keys of jobs: debounce, throttle, and a limit per tenant; and the control of a queue: a pause, a
// change, and a request to stop.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

std::string_view text_of(skein::enqueue_outcome outcome)
{
    switch (outcome) {
    case skein::enqueue_outcome::created:
        return "created";
    case skein::enqueue_outcome::skipped:
        return "skipped";
    case skein::enqueue_outcome::changed:
        return "changed";
    }
    return "";
}

/// Debounce: the index is built once, half a minute after the last edit, with the last text.
asio::awaitable<void> debounce(skein::queue indexing)
{
    for (const char* text : {R"("draft")", R"("better")", R"("final")"}) {
        const auto job = co_await indexing.enqueue(
            text,
            {.delay = 30s,
             .unique = {.key = "document-7", .on_conflict = skein::on_conflict::replace_and_move}});
        std::cout << "index " << text << ": " << text_of(job.outcome) << ", job " << job.id << '\n';
    }
}

/// Throttle: at most one reminder an hour, however often somebody asks, and be it sent already.
asio::awaitable<void> throttle(skein::queue reminders)
{
    for (int i = 0; i < 2; ++i) {
        const auto job =
            co_await reminders.enqueue("{}", {.unique = {.key = "user-42", .period = 1h}});
        std::cout << "remind: " << text_of(job.outcome) << '\n';
        if (job.is_created()) {
            skein::job reminder = co_await reminders.claim();
            co_await reminder.ack();
        }
    }
}

/// A tenant with many exports keeps two workers busy, and not all of them.
asio::awaitable<void> limit(skein::queue exports)
{
    for (int i = 0; i < 5; ++i) {
        co_await exports.enqueue(R"("of tenant 7")",
                                 {.concurrency = {.key = "tenant-7", .limit = 2}});
    }
    co_await exports.enqueue(R"("of tenant 8")", {.concurrency = {.key = "tenant-8", .limit = 2}});
    const std::vector<skein::job> running = co_await exports.claim_many(10);
    for (const skein::job& each : running) {
        std::cout << "export " << each.payload() << '\n';
    }
    const skein::queue_counts counts = co_await exports.counts();
    std::cout << counts.held << " wait for their turn\n";
}

asio::awaitable<void> control(skein::queue mails)
{
    const auto mail = co_await mails.enqueue(R"("hello")");
    co_await mails.pause(); // for all processes, until somebody resumes it
    const auto nothing = co_await mails.try_claim();
    std::cout << "claimed while paused: " << (nothing ? "a job" : "nothing") << '\n';
    co_await mails.change(mail, {.payload = R"("hello again")", .priority = 5});
    co_await mails.resume();

    skein::job running = co_await mails.claim();
    co_await mails.request_stop(running.id()); // from any process
    co_await running.extend(60s);              // the heartbeat of the one who has it
    std::cout << running.payload() << (running.stop_requested() ? " was asked to stop\n" : "\n");
    co_await running.ack();
}

asio::awaitable<void> show(skein::database db)
{
    co_await debounce(db.queue("indexing"));
    co_await throttle(db.queue("reminders"));
    co_await limit(db.queue("exports"));
    co_await control(db.queue("mails"));
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);
    asio::io_context context;
    const skein::database db(directory.path() / "keys.db");
    asio::co_spawn(context, show(db), rethrow);
    context.run();
    return EXIT_SUCCESS;
}
