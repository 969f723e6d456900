#include "support/manual_database.hpp"

#include <skein/error.hpp>
#include <skein/json.hpp>
#include <skein/skein.hpp>
#include <skein/testing/drain.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using ::testing::HasSubstr;

/// What is awaited inside a callback of one's own would wait for its end.
class InsideACallback : public ::testing::Test {
protected:
    /// Runs it as a callback that writes.
    void run(const std::function<void()>& work)
    {
        const auto callback = [&](transaction&) { work(); };
        db_.run(db_.database().transaction(callback));
    }

    /// Runs it as a callback that reads.
    void look(const std::function<void()>& work)
    {
        const auto callback = [&](const SQLite::Database&) { work(); };
        db_.run(db_.database().read(callback));
    }

    /// Why the call is refused.
    template <class Call>
    static std::string refusal(Call&& call)
    {
        try {
            static_cast<void>(call());
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument) << refused.what();
            return refused.what();
        }
        return "none";
    }

    /// The call is refused, with the name of what to call instead; so it is where nothing can be.
    template <class Call>
    void expect_instead(const std::string& instead, Call call)
    {
        run([&] { EXPECT_THAT(refusal(call), HasSubstr("; call " + instead)); });
        look([&] { EXPECT_THAT(refusal(call), HasSubstr("; await it after the callback")); });
    }

    template <class Call>
    void expect_later(const char* verb, Call call)
    {
        const auto check = [&] {
            EXPECT_THAT(refusal(call), HasSubstr("; await it after the callback")) << verb;
        };
        run(check);
        look(check);
    }

    manual_database db_;
    skein::database& database_ = db_.database();
};

TEST_F(InsideACallback, TheVerbsOfQueuesNameTheirOtherForm)
{
    const skein::queue queue = database_.queue("q");
    db_.run(queue.enqueue("1"));
    job claimed = db_.run(queue.claim());
    const std::vector<new_job> jobs = {{"1"}};
    const std::vector<int> value = {1};
    expect_instead("enqueue(tx, payload)", [&] { return queue.enqueue("1"); });
    expect_instead("enqueue(tx, payload)", [&] { return queue.enqueue(value); });
    expect_instead("enqueue_many(tx, jobs)", [&] { return queue.enqueue_many(jobs); });
    expect_instead("cancel(tx, id)", [&] { return queue.cancel(1); });
    expect_instead("cancel_job(tx, id)", [&] { return database_.cancel_job(1); });
    expect_instead("sweep_expired(tx)", [&] { return queue.sweep_expired(); });
    expect_instead("change(tx, id, change)", [&] { return queue.change(1, {.priority = 2}); });
    expect_instead("request_stop(tx, id)", [&] { return queue.request_stop(1); });
    expect_instead("ack(tx)", [&] { return claimed.ack(); });
    expect_instead("retry(tx, delay, error)", [&] { return claimed.retry(); });
    expect_instead("fail(tx, error)", [&] { return claimed.fail("no"); });
    expect_instead("extend(tx, visibility)", [&] { return claimed.extend(5s); });
    expect_instead("release(tx)", [&] { return claimed.release(); });
    expect_instead("snooze(tx, delay)", [&] { return claimed.snooze(5s); });
    expect_instead("redrive(tx, id)", [&] { return queue.dead_letters().redrive(1); });
    expect_instead("save(tx, job_id, text)", [&] { return database_.results().save(1, "1"); });
    expect_instead("get(tx, job_id)", [&] { return database_.results().get(1); });
    EXPECT_TRUE(db_.run(claimed.ack())) << "nothing has happened to it";
    EXPECT_EQ(db_.run(queue.counts()).pending, 0U);
}

TEST_F(InsideACallback, TheVerbsOfTransportsNameTheirOtherForm)
{
    const skein::transport messages = database_.transport();
    db_.run(messages.publish("g", "1"));
    message claimed = db_.run(messages.claim());
    const std::vector<publication> publications = {{"g", "1"}};
    expect_instead("publish(tx, group, payload)", [&] { return messages.publish("g", "1"); });
    expect_instead("publish_many(tx, publications)",
                   [&] { return messages.publish_many(publications); });
    expect_instead("ack_many(tx, messages)", [&] { return messages.ack_many({&claimed, 1}); });
    expect_instead("unpark(tx, group)", [&] { return messages.unpark("g"); });
    expect_instead("repair(tx)", [&] { return messages.repair(); });
    expect_instead("adopt_unprefixed_tables(tx)",
                   [&] { return messages.adopt_unprefixed_tables(); });
    expect_instead("ack(tx)", [&] { return claimed.ack(); });
    expect_instead("nack(tx, delay)", [&] { return claimed.nack(); });
    expect_instead("extend(tx, visibility)", [&] { return claimed.extend(5s); });
    EXPECT_TRUE(db_.run(claimed.ack())) << "nothing has happened to it";
}

TEST_F(InsideACallback, TheVerbsOfLogsNameTheirOtherForm)
{
    const skein::stream topic = database_.stream("t");
    consumer reader = db_.run(topic.consumer("c"));
    const std::vector<new_event> events = {{.payload = "1"}};
    expect_instead("notify(tx, channel, payload)", [&] { return database_.notify("c", "1"); });
    expect_instead("publish(tx, payload)", [&] { return topic.publish("1"); });
    expect_instead("publish(tx, key, payload)", [&] { return topic.publish("k", "1"); });
    expect_instead("publish_many(tx, events)", [&] { return topic.publish_many(events); });
    expect_instead("read_since(tx, offset)", [&] { return topic.read_since(0); });
    expect_instead("save(tx, offset)", [&] { return reader.save(1); });
    expect_instead("save(tx)", [&] { return reader.save(); });
}

TEST_F(InsideACallback, TheVerbsOfLocksLimitsAndSchedulesNameTheirOtherForm)
{
    const named_lock lock = database_.lock("l");
    lock_guard guard = db_.run(database_.lock("other").acquire());
    const skein::rate_limit limit = database_.rate_limit("r", {.permits = 1, .per = 1s});
    const skein::scheduler schedules = database_.scheduler();
    expect_instead("try_acquire(tx)", [&] { return lock.try_acquire(); });
    expect_instead("renew(tx)", [&] { return guard.renew(); });
    expect_instead("release(tx)", [&] { return guard.release(); });
    expect_instead("try_take(tx)", [&] { return limit.try_take(); });
    expect_instead("add(tx, name, queue, expression, payload)",
                   [&] { return schedules.add("s", "q", "@every 5s", "1"); });
    expect_instead("update(tx, name, change)", [&] { return schedules.update("s", {}); });
    expect_instead("remove(tx, name)", [&] { return schedules.remove("s"); });
    expect_instead("pause(tx, name)", [&] { return schedules.pause("s"); });
    expect_instead("resume(tx, name)", [&] { return schedules.resume("s"); });
}

TEST_F(InsideACallback, VerbsWithoutAnotherFormAreRefusedToo)
{
    const skein::queue queue = database_.queue("q");
    const skein::queue_choice choice{queue, database_.queue("other")};
    db_.run(queue.enqueue("1"));
    job claimed = db_.run(queue.claim());
    const auto handler = [](job&) -> asio::awaitable<void> { co_return; };
    const auto reader = [](message&) -> asio::awaitable<void> { co_return; };
    expect_later("run", [&] { return skein::run(queue, handler); });
    expect_later("run", [&] { return skein::run(database_.transport(), reader); });
    expect_later("drain", [&] { return skein::testing::drain(queue, handler); });
    expect_later("pause", [&] { return queue.pause(); });
    expect_later("resume", [&] { return queue.resume(); });
    expect_later("is_paused", [&] { return queue.is_paused(); });
    expect_later("claim", [&] { return queue.claim(); });
    expect_later("try_claim", [&] { return queue.try_claim(); });
    expect_later("claim_within", [&] { return queue.claim_within(1s); });
    expect_later("claim_many", [&] { return queue.claim_many(5); });
    expect_later("choice", [&] { return choice.claim(); });
    expect_later("ack_many", [&] { return queue.ack_many({&claimed, 1}); });
    expect_later("retry_many", [&] { return queue.retry_many({&claimed, 1}); });
    expect_later("find", [&] { return queue.find(1); });
    expect_later("list", [&] { return queue.list(job_state::pending); });
    expect_later("counts", [&] { return queue.counts(); });
    expect_later("next_due", [&] { return queue.next_due(); });
    expect_later("find_job", [&] { return database_.find_job(1); });
    expect_later("queues", [&] { return database_.queues(); });
    const skein::dead_letters dead = queue.dead_letters();
    expect_later("dead find", [&] { return dead.find(1); });
    expect_later("dead list", [&] { return dead.list(); });
    expect_later("redrive_all", [&] { return dead.redrive_all(); });
    expect_later("purge_all", [&] { return dead.purge_all(); });
    expect_later("prune", [&] { return dead.prune({.keep = 1}); });
    const skein::results results = database_.results();
    expect_later("wait", [&] { return results.wait(1); });
    expect_later("wait_within", [&] { return results.wait_within(1s, 1); });
    expect_later("sweep", [&] { return results.sweep(); });
    const job_fence fence = claimed.detach();
    expect_later("fence ack", [&] { return queue.ack(fence); });
    expect_later("fence retry", [&] { return queue.retry(fence); });
}

TEST_F(InsideACallback, VerbsOfTheOtherHandlesWithoutAnotherFormAreRefusedToo)
{
    const skein::transport messages = database_.transport();
    expect_later("transport claim", [&] { return messages.claim(); });
    expect_later("transport counts", [&] { return messages.counts(); });
    expect_later("transport groups", [&] { return messages.groups(); });
    const skein::stream topic = database_.stream("t");
    consumer reader = db_.run(topic.consumer("c"));
    listener hearer = db_.run(database_.listen("c"));
    expect_later("consumer", [&] { return topic.consumer("d"); });
    expect_later("consumers", [&] { return topic.consumers(); });
    expect_later("forget", [&] { return topic.forget_consumer("c"); });
    expect_later("trim", [&] { return topic.trim({.keep = 1}); });
    const auto take = [](const relayed_event&) -> asio::awaitable<void> { co_return; };
    expect_later("relay", [&] { return topic.relay("r").run(take); });
    expect_later("first_offset", [&] { return topic.first_offset(); });
    expect_later("consumer next", [&] { return reader.next(); });
    expect_later("consumer try_next", [&] { return reader.try_next(); });
    expect_later("listen", [&] { return database_.listen("c"); });
    expect_later("listener next", [&] { return hearer.next(); });
    expect_later("prune", [&] { return database_.prune_notifications({.keep = 1}); });
    const named_lock lock = database_.lock("l");
    expect_later("acquire", [&] { return lock.acquire(); });
    expect_later("holder", [&] { return lock.holder(); });
    const skein::rate_limit limit = database_.rate_limit("r", {.permits = 1, .per = 1s});
    expect_later("take", [&] { return limit.take(); });
    expect_later("sweep limits", [&] { return database_.sweep_rate_limits(1s); });
    expect_later("run", [&] { return database_.scheduler().run(); });
    expect_later("list", [&] { return database_.scheduler().list(); });
    const auto nothing = [](transaction&) {};
    expect_later("transaction", [&] { return database_.transaction(nothing); });
    const auto look_at_nothing = [](const SQLite::Database&) {};
    expect_later("read", [&] { return database_.read(look_at_nothing); });
}

TEST_F(InsideACallback, BlockingOnAFutureFailsAtOnceInsteadOfForEver)
{
    const skein::database real(db_.path(), manual_database::quick());
    const skein::queue queue = real.queue("q");
    asio::io_context others;
    const auto work = asio::make_work_guard(others);
    std::thread thread([&] { others.run(); });
    const auto callback = [&](transaction&) {
        return refusal(
            [&] { return asio::co_spawn(others, queue.enqueue("1"), asio::use_future).get(); });
    };
    auto outcome = asio::co_spawn(others, real.transaction(callback), asio::use_future);
    EXPECT_THAT(outcome.get(), HasSubstr("call enqueue(tx, payload)"));
    others.stop();
    thread.join();
}

TEST_F(InsideACallback, AnotherThreadIsNotConcerned)
{
    const skein::queue queue = database_.queue("q");
    std::optional<asio::awaitable<enqueued_job>> made;
    run([&] { std::thread([&] { made.emplace(queue.enqueue("1")); }).join(); });
    EXPECT_EQ(db_.run(*std::move(made)), 1);
}

TEST_F(InsideACallback, AnotherDatabaseIsNotConcerned)
{
    manual_database other;
    std::string inner = "not called";
    const auto nested = [&](transaction&) {
        inner = refusal([&] { return database_.queue("q").enqueue("1"); });
    };
    run([&] {
        EXPECT_EQ(other.run(other.database().queue("q").enqueue("1")), 1);
        other.run(other.database().transaction(nested));
        EXPECT_EQ(other.run(other.database().queue("q").enqueue("1")), 2);
    });
    EXPECT_THAT(inner, HasSubstr("call enqueue(tx, payload)")) << "a callback inside a callback";
}

TEST_F(InsideACallback, HandlesMayBeMadeAndDropped)
{
    const skein::queue queue = database_.queue("q");
    db_.run(queue.enqueue("1"));
    auto claimed = std::make_unique<job>(db_.run(queue.claim()));
    run([&] {
        claimed.reset();
        static_cast<void>(database_.queue("other"));
    });
    EXPECT_EQ(db_.run(queue.claim()).payload(), "1");
}

TEST_F(InsideACallback, ClosingMayBeStarted)
{
    std::optional<support::operation<void>> closing;
    run([&] { closing.emplace(db_.start(database_.close())); });
    db_.settle();
    EXPECT_TRUE(closing->is_done());
}

TEST_F(InsideACallback, ThatHasEndedEverythingIsAsBefore)
{
    run([] {});
    const auto fails = [](transaction&) { throw std::runtime_error("no"); };
    EXPECT_THROW(db_.run(database_.transaction(fails)), std::runtime_error);
    look([] {});
    EXPECT_EQ(db_.run(database_.queue("q").enqueue("1")), 1);
}

} // namespace
