#include "outbox/outbox_fixture.hpp"

#include <skein/json.hpp>

#include <sqlite3.h>

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;

/// What is written on the user's connection, as the database reads it.
class OutboxVerbs : public support::outbox_fixture {};

TEST_F(OutboxVerbs, EnqueueAddsAJobAsTheQueuesVerbDoes)
{
    outbox box = make();
    const std::int64_t id = box.enqueue("emails", R"({"to": "ann"})", {.priority = 3});
    const auto found = db_.run(db_.database().queue("emails").find(id));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->payload, R"({"to": "ann"})");
    EXPECT_EQ(found->priority, 3);
    EXPECT_EQ(found->max_attempts, 3);
    EXPECT_EQ(found->state, job_state::pending);
    EXPECT_EQ(found->created_at.time_since_epoch(), 100s);
}

TEST_F(OutboxVerbs, EnqueueTakesAllOptions)
{
    outbox box = make();
    box.enqueue("q", "1", {.delay = 5s, .expires_in = 50s, .max_attempts = 7});
    box.enqueue("q", "2", {.run_at = clock::wall_time{200s}});
    EXPECT_EQ(value("SELECT group_concat(state || run_at || '/' || coalesce(expires_at, '-') ||"
                    " '/' || max_attempts) FROM _honker_live"),
              "scheduled105/150/7,scheduled200/-/3");
}

TEST_F(OutboxVerbs, EnqueueManyReturnsTheNumbersInOrder)
{
    outbox box = make();
    const std::vector<new_job> jobs = {{"1"}, {"2", {.priority = 1}}, {"3"}};
    EXPECT_THAT(box.enqueue_many("q", jobs), ElementsAre(1, 2, 3));
    EXPECT_EQ(db_.run(db_.database().queue("q").counts()).pending, 3U);
}

TEST_F(OutboxVerbs, PublishAppendsAMessage)
{
    outbox box = make();
    box.publish("group", "any text", {.priority = 2, .routing_key = "mail"});
    const std::vector<publication> more = {{"group", "second"}, {"other", "third"}};
    box.publish_many(more);
    const skein::transport messages = db_.database().transport();
    message first = db_.run(messages.claim({.min_priority = 2}));
    EXPECT_EQ(first.payload(), "any text");
    EXPECT_EQ(db_.run(messages.claim()).payload(), "third");
    EXPECT_TRUE(db_.run(first.ack()));
    EXPECT_EQ(db_.run(messages.claim({.min_priority = 2})).payload(), "second");
}

TEST_F(OutboxVerbs, PublishTakesTheTransportOfItsOptions)
{
    outbox box = make({.prefix = "orders", .fair_turns = true});
    box.publish("a", "1");
    box.publish("b", "2");
    const skein::transport orders = db_.database().transport({.prefix = "orders"});
    message first = db_.run(orders.claim());
    EXPECT_EQ(first.payload(), "1");
    EXPECT_EQ(db_.run(orders.claim()).payload(), "2");
}

TEST_F(OutboxVerbs, NotifyReachesAListener)
{
    listener who = db_.run(db_.database().listen("news"));
    outbox box = make();
    const std::int64_t id = box.notify("news", "[1]");
    db_.advance(1ms);
    const notification got = db_.run(who.next());
    EXPECT_EQ(got.id, id);
    EXPECT_EQ(got.payload, "[1]");
    EXPECT_EQ(got.created_at.time_since_epoch(), 100s);
}

TEST_F(OutboxVerbs, PublishEventAppendsToAStream)
{
    outbox box = make();
    EXPECT_EQ(box.publish_event("orders", "1"), 1);
    EXPECT_EQ(box.publish_event("orders", "key", "2"), 2);
    const std::vector<new_event> more = {{.payload = "3"}, {"k", "4"}};
    EXPECT_THAT(box.publish_events("orders", more), ElementsAre(3, 4));
    const auto events = db_.run(db_.database().stream("orders").read_since(0));
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[0].key, std::nullopt);
    EXPECT_EQ(events[1].key, "key");
    EXPECT_EQ(events[3].payload, "4");
    EXPECT_EQ(events[3].created_at.time_since_epoch(), 100s);
}

TEST_F(OutboxVerbs, TakeValues)
{
    outbox box = make();
    const std::vector<int> numbers = {1, 2};
    box.enqueue("q", numbers);
    box.publish("g", numbers);
    box.notify("c", numbers);
    box.publish_event("t", numbers);
    box.publish_event("t", "key", numbers);
    EXPECT_EQ(value("SELECT payload FROM _honker_live"), "[1,2]");
    EXPECT_EQ(value("SELECT event FROM harel_transport_messages"), "[1,2]");
    EXPECT_EQ(value("SELECT payload FROM _honker_notifications"), "[1,2]");
    EXPECT_EQ(value("SELECT group_concat(payload, ' ') FROM _honker_stream"), "[1,2] [1,2]");
}

TEST_F(OutboxVerbs, AreThereForASingleCall)
{
    const std::vector<int> value_of_a_type = {1};
    const std::vector<new_job> jobs = {{"1"}, {"2"}};
    const std::vector<publication> messages = {{"g", "1"}, {"g", "2"}};
    const std::vector<new_event> events = {{.payload = "1"}, {.payload = "2"}};
    EXPECT_EQ(enqueue(own_, "q", "null", {.priority = 1}), 1);
    EXPECT_EQ(enqueue(own_, "q", value_of_a_type), 2);
    EXPECT_THAT(enqueue_many(own_, "q", jobs), ElementsAre(3, 4));
    publish(own_, "g", "text", {.priority = 1});
    publish(own_, "g", value_of_a_type);
    publish_many(own_, messages);
    EXPECT_EQ(notify(own_, "c", "null"), 1);
    EXPECT_EQ(notify(own_, "c", value_of_a_type), 2);
    EXPECT_EQ(publish_event(own_, "t", "null"), 1);
    EXPECT_EQ(publish_event(own_, "t", "key", "null"), 2);
    EXPECT_EQ(publish_event(own_, "t", value_of_a_type), 3);
    EXPECT_EQ(publish_event(own_, "t", "key", value_of_a_type), 4);
    EXPECT_THAT(publish_events(own_, "t", events), ElementsAre(5, 6));
    EXPECT_EQ(counts(), "0 4 4 2 6");
}

TEST_F(OutboxVerbs, TakeAConnectionOfTheCInterface)
{
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(db_.path().c_str(), &raw), SQLITE_OK);
    {
        outbox box(raw);
        EXPECT_EQ(box.enqueue("q", "1"), 1);
    }
    EXPECT_EQ(enqueue(raw, "q", "2"), 2);
    EXPECT_EQ(sqlite3_close(raw), SQLITE_OK) << "nothing was left unfinished";
}

TEST_F(OutboxVerbs, UseTheMachinesTimeUnlessTold)
{
    enqueue(own_, "q", "1");
    EXPECT_EQ(value("SELECT created_at BETWEEN unixepoch() - 60 AND unixepoch() FROM _honker_live"),
              "1");
}

TEST_F(OutboxVerbs, PrepareTheirStatementsOnce)
{
    outbox box = make();
    const auto use = [&] {
        begin();
        box.enqueue("q", "1");
        box.publish("g", "1");
        box.notify("c", "1");
        box.publish_event("t", "1");
        commit();
        std::vector<sqlite3_stmt*> all;
        for (sqlite3_stmt* each = sqlite3_next_stmt(own_.getHandle(), nullptr); each != nullptr;
             each = sqlite3_next_stmt(own_.getHandle(), each)) {
            all.push_back(each);
        }
        return all;
    };
    use(); // makes the tables
    const auto before = use();
    const support::statement_counter counter(own_.getHandle());
    EXPECT_EQ(use(), before);
    EXPECT_EQ(counter.count("sqlite_schema"), 0U) << "looks for its tables each time";
}

TEST_F(OutboxVerbs, LeaveTheLastRowThatTheUserHasInserted)
{
    outbox box = make();
    own_.exec("INSERT INTO orders VALUES (77)");
    box.enqueue("q", "1");
    box.enqueue("q", "2");
    EXPECT_EQ(own_.getLastInsertRowid(), 77);
}

TEST_F(OutboxVerbs, CanBeMoved)
{
    outbox first = make();
    first.enqueue("q", "1");
    outbox second = std::move(first);
    second.enqueue("q", "2");
    first = std::move(second);
    EXPECT_EQ(first.enqueue("q", "3"), 3);
}

TEST_F(OutboxVerbs, WorkInsideACallbackOfTheDatabase)
{
    const auto work = [&](transaction& tx) {
        return outbox(tx.database(), {.clock = db_.clock_to_share()}).enqueue("q", "1");
    };
    auto waiting = db_.start(db_.database().queue("q").claim());
    db_.settle();
    EXPECT_EQ(db_.run(db_.database().transaction(work)), 1);
    EXPECT_TRUE(waiting.is_done());
}

} // namespace
