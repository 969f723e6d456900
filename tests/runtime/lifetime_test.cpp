#include "support/operation.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>
#include <skein/error.hpp>

#include <SQLiteCpp/Database.h>
#include <asio/execution_context.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::message;

/// Databases and contexts that end in every order, with coroutines suspended in all places.
class Lifetime : public testing::Test {
protected:
    skein::database_options options_ = [] {
        skein::database_options options;
        options.durability = skein::durability::off;
        return options;
    }();
    skein::support::temporary_directory directory_;
    const std::filesystem::path path_ = directory_ / "test.db";
};

std::error_code code_of(const std::exception_ptr& failure)
{
    return skein::support::code_of(failure);
}

template <class Result>
std::error_code code_of(std::future<Result>& future)
{
    try {
        future.get();
    } catch (const std::system_error& failure) {
        return failure.code();
    }
    return {};
}

/// Tells when its context has begun to end.
struct told_at_end : asio::execution_context::service {
    using key_type = told_at_end;
    inline static asio::execution_context::id id;

    told_at_end(asio::execution_context& owner, std::promise<void>& told)
        : service(owner), told_(told)
    {
    }
    void shutdown() override { told_.set_value(); }

    std::promise<void>& told_;
};

/// Holds a message over another suspension, and a handle of everything.
asio::awaitable<void> work(skein::database database)
{
    const skein::transport queue = database.transport();
    co_await queue.publish("g", "m");
    const message held = co_await queue.claim();
    const message never = co_await queue.claim("nobody");
}

asio::awaitable<void> wait(skein::transport queue)
{
    const message never = co_await queue.claim();
}

asio::awaitable<void> publish_for_ever(skein::transport queue)
{
    for (;;) {
        co_await queue.publish("g", "m");
    }
}

void ignore(const std::exception_ptr& /*failure*/) {}

TEST_F(Lifetime, OfTheContextMayEndFirst)
{
    std::optional<skein::database> database;
    std::optional<skein::transport> queue;
    {
        asio::io_context context;
        database.emplace(context.get_executor(), path_, options_);
        queue = database->transport();
        asio::co_spawn(context, work(*database), ignore);
        asio::co_spawn(context, wait(*queue), ignore);
        context.run_for(10ms);
    }
    // The strand has gone with its context: everything that comes now is refused.
    asio::io_context other;
    auto late = asio::co_spawn(other, queue->publish("g", "late"), asio::use_future);
    auto closing = asio::co_spawn(other, database->close(), asio::use_future);
    other.run();
    EXPECT_EQ(code_of(late), errc::closed);
    EXPECT_EQ(code_of(closing), std::error_code());
    database.reset();
}

TEST_F(Lifetime, OfTheDatabaseMayEndFirst)
{
    asio::io_context context;
    std::optional<skein::database> database(std::in_place, context.get_executor(), path_, options_);
    std::exception_ptr outcome;
    asio::co_spawn(context, wait(database->transport()),
                   [&](const std::exception_ptr& failure) { outcome = failure; });
    context.run_for(10ms);
    database.reset();
    context.restart();
    context.run(); // nothing is left to wait for
    EXPECT_EQ(code_of(outcome), errc::closed);
}

TEST_F(Lifetime, OfAContextThatNeverRanMayEndFirst)
{
    std::optional<skein::database> database;
    {
        asio::io_context context;
        database.emplace(context.get_executor(), path_, options_);
        asio::co_spawn(context, work(*database), ignore);
    }
    database.reset();
    {
        asio::io_context context;
        database.emplace(context.get_executor(), path_, options_);
        asio::co_spawn(context, work(*database), ignore);
        database.reset();
    }
}

TEST_F(Lifetime, OfOneOfTwoContextsEndsTheCoroutinesOnIt)
{
    const skein::database database(path_, options_);
    const skein::transport queue = database.transport();
    asio::io_context survivor;
    {
        asio::io_context context;
        asio::co_spawn(context, wait(queue), ignore);
        asio::co_spawn(context, wait(queue), ignore);
        // Its answer comes after theirs could have: they are in line.
        EXPECT_FALSE(skein::support::run_coroutine(context, queue.try_claim()));
    }
    // The message is for somebody who lives.
    auto published = asio::co_spawn(survivor, queue.publish("g", "m"), asio::use_future);
    auto claimed = asio::co_spawn(survivor, queue.claim(), asio::use_future);
    survivor.run();
    EXPECT_EQ(claimed.get().payload(), "m");
    published.get();
}

TEST_F(Lifetime, OfAnOwnThreadEndsWithTheLastHandle)
{
    asio::io_context context;
    std::exception_ptr outcome;
    {
        const skein::database database(path_, options_);
        asio::co_spawn(context, wait(database.transport()),
                       [&](const std::exception_ptr& failure) { outcome = failure; });
        context.run_for(10ms);
    }
    context.restart();
    context.run();
    EXPECT_EQ(code_of(outcome), errc::closed);
    // The thread was joined, so the file is free.
    EXPECT_EQ(skein::support::plain_connection(path_).value("PRAGMA journal_mode = delete"),
              "delete");
}

TEST_F(Lifetime, OfAnOwnThreadMayEndInACoroutineOfTheCallers)
{
    asio::io_context context;
    {
        auto database = std::make_shared<skein::database>(path_, options_);
        asio::co_spawn(context, work(*database), ignore);
    }
    context.run_for(20ms); // the coroutine is the last to hold the database
}

TEST_F(Lifetime, OfAnOwnThreadMayEndInsideACallbackOnIt)
{
    auto last = std::make_shared<std::optional<skein::database>>(std::in_place, path_, options_);
    asio::io_context context;
    const auto work = [last](skein::transaction& tx) {
        tx.database().exec("CREATE TABLE mine (v)");
        last->reset();
        return 7;
    };
    auto started = asio::co_spawn(context, (*last)->transaction(work), asio::use_future);
    last.reset();
    context.run();
    EXPECT_EQ(started.get(), 7);
    EXPECT_EQ(skein::support::plain_connection(path_).value("SELECT count(*) FROM mine"), "0");
}

TEST_F(Lifetime, OfAContextLastsUntilACallbackOfItsCoroutineHasEnded)
{
    const skein::database database(path_, options_);
    auto context = std::make_unique<asio::io_context>();
    std::atomic<bool> is_destroyed = false;
    std::atomic<bool> was_destroyed = false;
    std::promise<void> started;
    std::promise<void> ends;
    const auto call = [&]() -> asio::awaitable<void> {
        const std::shared_ptr<void> owned(nullptr, [&](void*) { is_destroyed = true; });
        const auto look = [&](skein::transaction&) {
            started.set_value();
            ends.get_future().wait();
            for (int each = 0; each < 10000 && !is_destroyed; ++each) {
                std::this_thread::yield();
            }
            was_destroyed = is_destroyed.load();
        };
        co_await database.transaction(look);
    };
    asio::co_spawn(*context, call(), ignore);
    context->poll();
    started.get_future().wait();
    asio::make_service<told_at_end>(*context, ends); // the last made is the first that ends
    context.reset();
    EXPECT_FALSE(was_destroyed);
    EXPECT_TRUE(is_destroyed);
}

TEST_F(Lifetime, OfAThreadPoolMayEndFirst)
{
    std::optional<skein::database> database;
    {
        asio::thread_pool pool(2);
        database.emplace(pool.get_executor(), path_, options_);
        for (int each = 0; each < 10; ++each) {
            asio::co_spawn(pool, work(*database), ignore);
            asio::co_spawn(asio::make_strand(pool), publish_for_ever(database->transport()),
                           ignore);
        }
        std::promise<void> busy;
        asio::post(pool, [&] { busy.set_value(); });
        busy.get_future().get();
        pool.stop();
        pool.join();
    }
    database.reset();
}

TEST_F(Lifetime, OfAThreadPoolEndsByItselfOnceTheDatabaseIsClosed)
{
    asio::thread_pool pool(2);
    {
        const skein::database database(pool.get_executor(), path_, options_);
        for (int each = 0; each < 10; ++each) {
            asio::co_spawn(pool, wait(database.transport()), ignore);
            asio::co_spawn(asio::make_strand(pool), publish_for_ever(database.transport()), ignore);
        }
    }
    pool.join();
}

TEST_F(Lifetime, OfADatabaseEndsOnceWhenManyThreadsCloseIt)
{
    const skein::database database(path_, options_);
    asio::thread_pool pool(4);
    std::atomic<int> refused = 0;
    std::vector<std::future<void>> closings;
    for (int each = 0; each < 16; ++each) {
        asio::co_spawn(pool, publish_for_ever(database.transport()),
                       [&](const std::exception_ptr& failure) {
                           refused += code_of(failure) == errc::closed ? 1 : 0;
                       });
        closings.push_back(asio::co_spawn(pool, database.close(), asio::use_future));
    }
    for (auto& each : closings) {
        EXPECT_NO_THROW(each.get());
    }
    pool.join();
    EXPECT_EQ(refused, 16);
}

TEST_F(Lifetime, OfMessagesAndTransportsMayGoOnAfterBothDatabaseAndContext)
{
    message held;
    std::optional<skein::transport> queue;
    {
        asio::io_context context;
        const skein::database database(context.get_executor(), path_, options_);
        queue = database.transport();
        auto published = asio::co_spawn(context, queue->publish("g", "m"), asio::use_future);
        auto claimed = asio::co_spawn(context, queue->claim(), asio::use_future);
        context.run();
        held = claimed.get();
    }
    EXPECT_EQ(held.payload(), "m");
    asio::io_context context;
    auto ack = asio::co_spawn(context, held.ack(), asio::use_future);
    context.run();
    EXPECT_EQ(code_of(ack), errc::closed);
}

TEST_F(Lifetime, OfTwoDatabasesOnOneContextAreIndependent)
{
    asio::io_context context;
    skein::database first(context.get_executor(), path_, options_);
    std::optional<skein::database> second(std::in_place, context.get_executor(), path_, options_);
    asio::co_spawn(context, wait(second->transport()), ignore);
    context.run_for(5ms);
    second.reset();
    context.restart();
    auto published = asio::co_spawn(context, first.transport().publish("g", "m"), asio::use_future);
    context.run();
    EXPECT_NO_THROW(published.get());
}

} // namespace
