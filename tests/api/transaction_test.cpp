#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

namespace {

using namespace std::chrono_literals;
using skein::errc;
using skein::message;
using skein::transaction;
using testing::ElementsAre;
using testing::IsEmpty;

class Transaction : public skein::support::running_queue {
protected:
    template <class Function>
    auto run(const Function& work)
    {
        return db_.run(db_.database().transaction(work));
    }

    /// Does the same as `work`, and takes it back.
    template <class Function>
    void run_and_throw(const Function& work)
    {
        const auto failing = [&](transaction& tx) {
            work(tx);
            throw std::runtime_error("taken back");
        };
        EXPECT_THROW(run(failing), std::runtime_error);
    }

    message claim() { return db_.run(queue_.claim()); }
};

TEST_F(Transaction, PublishesTogetherWithWhatItWrites)
{
    const auto work = [this](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (7)");
        queue_.publish(tx, "g", "m");
    };
    run_and_throw(work);
    EXPECT_THAT(payloads(), IsEmpty());
    EXPECT_THAT(other_.sql("SELECT v FROM t"), IsEmpty());
    run(work);
    EXPECT_THAT(payloads(), ElementsAre("m"));
    EXPECT_THAT(other_.sql("SELECT v FROM t"), ElementsAre("7"));
}

TEST_F(Transaction, MakesTheTablesOfATransport)
{
    skein::transport_options fresh;
    fresh.prefix = "fresh";
    const skein::transport queue = db_.database().transport(fresh);
    const auto work = [&](transaction& tx) { queue.publish(tx, "g", "m"); };
    run_and_throw(work);
    EXPECT_THAT(other_.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'fresh%'"), IsEmpty());
    run(work);
    EXPECT_EQ(db_.run(queue.claim()).payload(), "m");
}

TEST_F(Transaction, WakesAWaiterByWhatItPublishes)
{
    auto waiting = start_claim();
    db_.settle();
    const auto work = [this](transaction& tx) { queue_.publish(tx, "g", "m"); };
    run_and_throw(work);
    EXPECT_FALSE(waiting.is_done());
    run(work);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(Transaction, WakesAWaiterByWhatItWritesInPlainSql)
{
    auto waiting = start_claim();
    db_.settle();
    const auto work = [](transaction& tx) {
        tx.database().exec("INSERT INTO harel_transport_groups (group_id) VALUES ('g');"
                           "INSERT INTO harel_transport_messages (group_id, event)"
                           " VALUES ('g', 'm')");
    };
    run(work);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Transaction, AcknowledgesIfAndWhenItCommits)
{
    publish("m");
    message claimed = claim();
    const auto work = [&](transaction& tx) {
        EXPECT_TRUE(claimed.ack(tx));
        tx.database().exec("INSERT INTO t VALUES ('done')");
    };
    run_and_throw(work);
    EXPECT_EQ(leased(), "1");
    run(work);
    EXPECT_THAT(payloads(), IsEmpty());
    claimed = message();
    db_.settle();
    EXPECT_THAT(payloads(), IsEmpty());
}

TEST_F(Transaction, ThatFailsToAcknowledgeLeavesTheLeaseToTheHandle)
{
    publish("m");
    message claimed = claim();
    run_and_throw([&](transaction& tx) { EXPECT_TRUE(claimed.ack(tx)); });
    claimed = message();
    db_.settle();
    EXPECT_EQ(leased(), "0");
}

TEST_F(Transaction, AcknowledgesWithAHandleThatEndsInsideIt)
{
    publish("m");
    auto claimed = std::make_shared<message>(claim());
    run([&](transaction& tx) {
        EXPECT_TRUE(claimed->ack(tx));
        claimed.reset();
    });
    db_.settle();
    EXPECT_THAT(payloads(), IsEmpty());
}

TEST_F(Transaction, GivesBackIfAndWhenItCommits)
{
    publish("m");
    message claimed = claim();
    auto waiting = start_claim();
    db_.settle();
    const auto work = [&](transaction& tx) { EXPECT_TRUE(claimed.nack(tx)); };
    run_and_throw(work);
    EXPECT_FALSE(waiting.is_done());
    run(work);
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Transaction, ParksIfAndWhenItCommits)
{
    publish("m");
    message claimed = claim();
    run([&](transaction& tx) { EXPECT_TRUE(claimed.nack(tx, 10s)); });
    claimed = message();
    db_.settle();
    EXPECT_EQ(peek(), "nothing");
    db_.advance(11s);
    EXPECT_EQ(peek(), "m");
}

TEST_F(Transaction, ExtendsIfAndWhenItCommits)
{
    publish("m");
    message claimed = claim();
    const auto before = claimed.expires_at();
    const auto work = [&](transaction& tx) { EXPECT_TRUE(claimed.extend(tx, 100s)); };
    run_and_throw(work);
    EXPECT_EQ(claimed.expires_at(), before);
    run(work);
    EXPECT_EQ(claimed.expires_at(), db_.clock().wall_now() + 100s);
}

TEST_F(Transaction, SaysThatALeaseIsLost)
{
    publish("m");
    message claimed = claim();
    EXPECT_TRUE(db_.run(claimed.ack()));
    run([&](transaction& tx) {
        EXPECT_FALSE(claimed.ack(tx));
        EXPECT_FALSE(claimed.nack(tx));
        EXPECT_FALSE(claimed.extend(tx, 1s));
    });
}

TEST_F(Transaction, OfAnotherDatabaseIsRefused)
{
    publish("m");
    message claimed = claim();
    const skein::database second(db_.context().get_executor(), db_.path());
    const auto code_of = [](auto call) -> std::error_code {
        try {
            call();
        } catch (const skein::error& failure) {
            return failure.code();
        }
        return {};
    };
    const auto work = [&](transaction& tx) {
        EXPECT_EQ(code_of([&] { queue_.publish(tx, "g", "m"); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { (void)claimed.ack(tx); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { (void)claimed.nack(tx); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { (void)claimed.extend(tx, 1s); }), errc::invalid_argument);
    };
    db_.run(second.transaction(work));
    EXPECT_THAT(payloads(), ElementsAre("m"));
    EXPECT_TRUE(db_.run(claimed.ack()));
}

TEST_F(Transaction, RefusesMisuseByItsVerbsAndGoesOn)
{
    run([this](transaction& tx) {
        skein::publish_options wrong;
        wrong.priority = 5;
        EXPECT_THROW(queue_.publish(tx, "g", "m", wrong), skein::error);
        queue_.publish(tx, "g", "good");
    });
    EXPECT_THAT(payloads(), ElementsAre("good"));
}

TEST_F(Transaction, ReturnsWhatItsCallbackReturns)
{
    EXPECT_EQ(run([](transaction&) { return std::string("answer"); }), "answer");
    EXPECT_EQ(*run([](transaction&) { return std::make_unique<int>(7); }), 7);
}

struct no_default {
    explicit no_default(int value_) : value(value_) {}
    int value;
};

asio::awaitable<int> unwrap(asio::awaitable<no_default> work)
{
    const no_default found = co_await std::move(work);
    co_return found.value;
}

TEST_F(Transaction, ReturnsATypeThatHasNoDefault)
{
    const auto work = [](transaction&) { return no_default(42); };
    EXPECT_EQ(db_.run(unwrap(db_.database().transaction(work))), 42);
}

TEST_F(Transaction, ThrowsWhatItsCallbackThrows)
{
    struct my_failure {
        int number;
    };
    const auto work = [](transaction&) -> int { throw my_failure{7}; };
    try {
        run(work);
        FAIL();
    } catch (const my_failure& failure) {
        EXPECT_EQ(failure.number, 7);
    }
}

TEST_F(Transaction, OwnsItsCallback)
{
    auto owned = std::make_shared<std::string>("m");
    std::function<void(transaction&)> work = [this, owned](transaction& tx) {
        queue_.publish(tx, "g", *owned);
    };
    auto started = db_.database().transaction(work);
    work = nullptr;
    owned.reset();
    db_.run(std::move(started));
    EXPECT_THAT(payloads(), ElementsAre("m"));
}

TEST_F(Transaction, MayTakeBackTheTablesWithASavepoint)
{
    const skein::queue jobs = db_.database().queue("jobs");
    const skein::transport fresh = db_.database().transport({.prefix = "fresh"});
    const auto work = [&](transaction& tx) {
        tx.database().exec("SAVEPOINT part");
        jobs.enqueue(tx, "1");
        fresh.publish(tx, "g", "1");
        tx.database().exec("ROLLBACK TO part; RELEASE part");
    };
    run(work);
    EXPECT_THAT(other_.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'fresh%'"), IsEmpty());
    db_.run(jobs.enqueue("2"));
    EXPECT_EQ(db_.run(jobs.claim()).payload(), "2");
    db_.run(fresh.publish("g", "2"));
    EXPECT_EQ(db_.run(fresh.claim()).payload(), "2");
}

TEST_F(Transaction, ThatIsNotAwaitedDoesNothing)
{
    {
        const auto work = [](transaction&) { FAIL(); };
        const auto forgotten = db_.database().transaction(work);
    }
    db_.settle();
}

TEST_F(Transaction, TakesACallbackThatChangesItself)
{
    auto counting = [calls = 0](transaction&) mutable { return ++calls; };
    EXPECT_EQ(db_.run(db_.database().transaction(counting)), 1);
    EXPECT_EQ(db_.run(db_.database().transaction(counting)), 1) << "the callback is copied";
}

} // namespace
