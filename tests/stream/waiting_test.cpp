#include "stream/stream_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using StreamWaiting = support::stream_fixture;

TEST_F(StreamWaiting, EndsWithAnEvent)
{
    consumer who = consume();
    auto wait = db_.start(who.next());
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    publish("7");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "7");
}

TEST_F(StreamWaiting, EndsWithAnEventOfATransaction)
{
    consumer who = consume();
    auto wait = db_.start(who.next_many(10));
    const auto publish = [&](transaction& tx) {
        stream_.publish(tx, "1");
        stream_.publish(tx, "2");
    };
    db_.run(db_.database().transaction(publish));
    ASSERT_TRUE(wait.is_done());
    EXPECT_THAT(offsets_of(wait.result()), ElementsAre(1, 2));
}

TEST_F(StreamWaiting, EndsWithAnEventOfAnotherConnection)
{
    consumer who = consume();
    auto wait = db_.start(who.next());
    db_.settle();
    support::plain_connection(db_.path())
        .sql("INSERT INTO _honker_stream (topic, key, payload) VALUES ('orders', 'k', '1')");
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().key, "k");
}

TEST_F(StreamWaiting, EndsAtItsLimit)
{
    consumer who = consume();
    auto one = db_.start(who.next_within(5s));
    db_.settle();
    db_.advance(4s);
    EXPECT_FALSE(one.is_done());
    db_.advance(1s);
    ASSERT_TRUE(one.is_done());
    EXPECT_FALSE(one.result());
    auto many = db_.start(who.next_many_within(5s, 7));
    db_.settle();
    db_.advance(5s);
    ASSERT_TRUE(many.is_done());
    EXPECT_THAT(many.result(), IsEmpty());
    publish();
    EXPECT_EQ(db_.run(who.next_within(-1s))->offset, 1);
}

TEST_F(StreamWaiting, LosesNothingWhereverACancellationComes)
{
    consumer who = consume();
    int cancelled = 0;
    std::int64_t last = 0;
    for (std::size_t steps = 0; steps < 40; ++steps) {
        auto call = db_.start(who.next());
        auto publishing = db_.start(stream_.publish("1"));
        poll(steps);
        call.cancel();
        db_.settle();
        if (call.has_failed()) {
            EXPECT_EQ(call.error(), asio::error::operation_aborted);
            EXPECT_EQ(who.offset(), last);
            ++cancelled;
        } else {
            ASSERT_EQ(call.result().offset, ++last);
        }
        for (const std::int64_t each : drain(who)) {
            ASSERT_EQ(each, ++last);
        }
        ASSERT_EQ(last, publishing.result());
    }
    EXPECT_GT(cancelled, 0);
    EXPECT_LT(cancelled, 40);
}

TEST_F(StreamWaiting, EndsWithTheDatabase)
{
    consumer who = consume();
    auto wait = db_.start(who.next());
    db_.settle();
    db_.run(db_.database().close());
    EXPECT_EQ(wait.error(), errc::closed);
    auto after = db_.start(who.next());
    auto saving = db_.start(who.save(7));
    db_.settle();
    EXPECT_EQ(after.error(), errc::closed);
    EXPECT_EQ(saving.error(), errc::closed);
}

TEST_F(StreamWaiting, GoesOnWhenTheConsumerIsDropped)
{
    std::optional<consumer> who = consume();
    auto wait = db_.start(who->next());
    db_.settle();
    who.reset();
    publish();
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().offset, 1);
}

TEST_F(StreamWaiting, EndsWithItsContext)
{
    std::optional<consumer> who = consume();
    {
        asio::io_context other;
        const operation<stream_event> wait(other, who->next());
        other.poll();
        db_.settle();
    }
    publish();
    EXPECT_EQ(db_.run(who->next()).offset, 1) << "nobody has got it";
}

TEST_F(StreamWaiting, CostsNoStatementHoweverManyWaitAndOneQueryWakesThem)
{
    publish();
    std::vector<consumer> all;
    std::vector<operation<stream_event>> waits;
    for (int each = 0; each < 1000; ++each) {
        all.push_back(consume("c" + std::to_string(each), {.start = consumer_start::end}));
        waits.push_back(db_.start(all.back().next()));
    }
    db_.settle();
    db_.advance(1ms);
    const statement_counter statements(db_.handle());
    for (int each = 0; each < 10; ++each) {
        db_.advance(6s);
    }
    EXPECT_EQ(statements.count("_honker_stream"), 0U);
    EXPECT_EQ(statements.count("BEGIN"), 0U);
    publish();
    for (auto& each : waits) {
        ASSERT_TRUE(each.is_done());
        EXPECT_EQ(each.result().offset, 2);
    }
    EXPECT_EQ(statements.count("FROM _honker_stream "), 1U);
}

TEST_F(StreamWaiting, IsNotDisturbedByOtherTopics)
{
    consumer who = consume();
    auto wait = db_.start(who.next());
    db_.settle();
    const stream other = db_.database().stream("payments");
    db_.run(other.publish("1"));
    const statement_counter statements(db_.handle());
    for (int each = 0; each < 10; ++each) {
        db_.run(other.publish("1"));
    }
    EXPECT_EQ(statements.count("FROM _honker_stream "), 0U);
    EXPECT_FALSE(wait.is_done());
}

TEST_F(StreamWaiting, MayBeginBeforeThereAreTables)
{
    support::manual_database other(db_.path(), support::manual_database::quick(),
                                   db_.clock_to_share());
    consumer who = consume();
    auto wait = db_.start(who.next());
    db_.settle();
    other.run(other.database().stream("orders").publish("1"));
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().offset, 1);
}

} // namespace
