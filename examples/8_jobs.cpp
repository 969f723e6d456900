// Jobs: a retry for what fails, dead letters for what fails too often, and a result that the one
// who has enqueued the job waits for.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

struct email {
    std::string to;
    std::string subject;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(email, to, subject)

bool is_server_down = true;

std::string send(const email& mail)
{
    if (is_server_down) {
        throw std::runtime_error("the mail server does not answer");
    }
    return "sent to " + mail.to;
}

/// The result and the end of the job are one commit: there is never one without the other.
asio::awaitable<void> finish(skein::database db, skein::job job, std::string receipt)
{
    const auto both = [&](skein::transaction& tx) {
        const bool is_ours = job.ack(tx);
        if (is_ours) {
            db.results().save(tx, job.id(), nlohmann::json(receipt), {.ttl = 1h});
        }
    };
    co_await db.transaction(both);
}

asio::awaitable<void> handle(skein::database db, skein::job job)
{
    std::string receipt;
    std::string problem;
    try {
        receipt = send(job.payload<email>());
    } catch (const std::exception& failure) {
        problem = failure.what(); // a handler of an exception cannot await
    }
    if (problem.empty()) {
        co_await finish(db, std::move(job), receipt);
    } else {
        std::cout << "attempt " << job.attempt() << ": " << problem << '\n';
        co_await job.retry(0s, problem); // 30s, say, where nobody waits for the example
    }
}

asio::awaitable<void> work(skein::database db, const bool& was_sent)
{
    const skein::queue emails = db.queue("emails");
    while (!was_sent) {
        auto job = co_await emails.claim_within(100ms); // how long a stop may take
        if (job) {
            co_await handle(db, std::move(*job));
        }
    }
}

asio::awaitable<void> enqueue_and_wait(skein::database db, bool& was_sent)
{
    const skein::queue emails = db.queue("emails");
    const email hello{"ann@example.org", "Hello"};
    const std::int64_t id = co_await emails.enqueue(hello, {.max_attempts = 2});
    const skein::job_end first = co_await db.results().wait(id);
    std::cout << "job " << id << " is dead: " << first.death->last_error.value_or("") << '\n';

    is_server_down = false;
    const auto redriven = co_await emails.dead_letters().redrive(id);
    const skein::job_end second = co_await db.results().wait(*redriven);
    std::cout << "job " << *redriven << ", once more: " << second.value<std::string>() << '\n';
    was_sent = true;
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "app.db");
    bool was_sent = false;
    asio::co_spawn(context, work(db, was_sent), rethrow);
    asio::co_spawn(context, enqueue_and_wait(db, was_sent), rethrow);
    context.run();
    return was_sent ? 0 : 1;
}
