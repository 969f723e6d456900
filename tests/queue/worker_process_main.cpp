// The program behind process_test.cpp, kill_test.cpp and keys_process_test.cpp: one who uses queues
// in a process of its own, on the public interface.
//
//     skein_queue_process open <database> enqueue|claim|save|wait
//     skein_queue_process work <database> <claimers>
//     skein_queue_process enqueue_unique <database> <coroutines>
//     skein_queue_process pause|resume <database>

#include <skein/skein.hpp>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Returns when all processes of the test are there, so that they go on at the same moment.
void wait_for_the_others()
{
    std::cout << "ready\n" << std::flush;
    std::string line;
    std::getline(std::cin, line);
}

asio::awaitable<void> enqueue(skein::queue queue)
{
    const std::int64_t id = co_await queue.enqueue(R"("new")");
    std::cout << "enqueued " << id << '\n';
}

asio::awaitable<void> claim(skein::queue queue)
{
    std::optional<skein::job> claimed = co_await queue.try_claim("w");
    if (!claimed) {
        std::cout << "none\n";
        co_return;
    }
    const bool is_ours = co_await claimed->ack();
    std::cout << (is_ours ? "done " : "stale ") << claimed->id() << '\n';
}

asio::awaitable<void> save(skein::results results)
{
    co_await results.save(1, R"("saved")");
    std::cout << "saved\n";
}

asio::awaitable<void> wait(skein::results results)
{
    const auto end = co_await results.wait_within(0s, 2);
    std::cout << (end ? "ended\n" : "live\n");
}

/// Opens the file and does a first operation, which may find tables of an older shape.
asio::awaitable<void> open(std::vector<std::string> arguments)
{
    wait_for_the_others();
    const skein::database database(arguments.at(0));
    const std::string& operation = arguments.at(1);
    if (operation == "enqueue") {
        co_await enqueue(database.queue("q"));
    } else if (operation == "claim") {
        co_await claim(database.queue("q"));
    } else if (operation == "save") {
        co_await save(database.results());
    } else if (operation == "wait") {
        co_await wait(database.results());
    } else {
        throw std::invalid_argument("no such operation: " + operation);
    }
}

/// Acknowledges the job, and writes into the database's account that it was done, or neither.
bool finish(skein::transaction& tx, skein::job& job)
{
    const bool is_ours = job.ack(tx);
    if (is_ours) {
        SQLite::Statement note(tx.database(), "INSERT INTO account (job, attempt) VALUES (?, ?)");
        note.bind(1, job.id());
        note.bind(2, job.attempt());
        note.exec();
    }
    return is_ours;
}

/// Works until there is nothing for longer than the leases of those who were killed hold.
asio::awaitable<void> work(skein::database database)
{
    const skein::queue queue = database.queue("q", {.visibility = 1s, .max_attempts = 1'000'000});
    std::vector<skein::job> jobs;
    do {
        jobs = co_await queue.claim_many_within(3s, 4);
        for (skein::job& each : jobs) {
            const auto finishing = [&](skein::transaction& tx) { return finish(tx, each); };
            const bool is_ours = co_await database.transaction(finishing);
            std::cout << (is_ours ? "done\n" : "stale\n") << std::flush;
        }
    } while (!jobs.empty());
}

void rethrow(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

/// Lets some claimers work, on this thread.
asio::awaitable<void> work(std::vector<std::string> arguments)
{
    const auto executor = co_await asio::this_coro::executor;
    const skein::database database(executor, arguments.at(0),
                                   {.durability = skein::durability::off});
    for (int each = 1; each < std::stoi(arguments.at(1)); ++each) {
        asio::co_spawn(executor, work(database), rethrow);
    }
    co_await work(database);
}

/// It holds the database, which would refuse it if it closed before.
asio::awaitable<void> enqueue_unique(skein::database database)
{
    const skein::queue queue = database.queue("q");
    const skein::enqueue_options options{.unique = {.key = "k"}};
    const skein::enqueued_job done = co_await queue.enqueue("1", options);
    std::cout << (done.is_created() ? "created " : "skipped ") << done.id << '\n';
}

/// All at once.
asio::awaitable<void> enqueue_unique(std::vector<std::string> arguments)
{
    wait_for_the_others();
    const auto executor = co_await asio::this_coro::executor;
    const skein::database database(executor, arguments.at(0));
    for (int each = 1; each < std::stoi(arguments.at(1)); ++each) {
        asio::co_spawn(executor, enqueue_unique(database), rethrow);
    }
    co_await enqueue_unique(database);
}

/// Pauses the queue or resumes it.
asio::awaitable<void> toggle(std::string path, bool is_pause)
{
    const skein::database database(path, {.durability = skein::durability::off});
    const skein::queue queue = database.queue("q");
    asio::awaitable<bool> change = is_pause ? queue.pause() : queue.resume();
    const bool has_changed = co_await std::move(change);
    std::cout << (has_changed ? "changed" : "as before") << '\n';
}

asio::awaitable<void> act(std::string command, std::vector<std::string> arguments)
{
    if (command == "open") {
        co_await open(std::move(arguments));
    } else if (command == "work") {
        co_await work(std::move(arguments));
    } else if (command == "enqueue_unique") {
        co_await enqueue_unique(std::move(arguments));
    } else if (command == "pause" || command == "resume") {
        co_await toggle(arguments.at(0), command == "pause");
    } else {
        throw std::invalid_argument("no such command: " + command);
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 2) {
        return 2;
    }
    int status = 1;
    asio::io_context context;
    std::vector<std::string> rest(arguments + 2, arguments + count);
    asio::co_spawn(context, act(arguments[1], std::move(rest)), [&](std::exception_ptr failure) {
        try {
            if (failure) {
                std::rethrow_exception(failure);
            }
            status = 0;
        } catch (const std::exception& known) {
            std::cout << "failed: " << known.what() << '\n';
        }
    });
    context.run();
    std::cout << std::flush;
    return status;
}
