#include "stream/stream_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using StreamConsumer = support::stream_fixture;

TEST_F(StreamConsumer, HandsOutEachEventInItsOrder)
{
    publish_many(250);
    consumer who = consume();
    EXPECT_EQ(who.topic(), "orders");
    EXPECT_EQ(who.name(), "c");
    EXPECT_EQ(who.offset(), 0);
    const stream_event first = db_.run(who.next());
    EXPECT_EQ(first.offset, 1);
    EXPECT_EQ(first.payload, "1");
    EXPECT_EQ(first.created_at.time_since_epoch(), 100s);
    EXPECT_EQ(who.offset(), 1);
    const numbers rest = drain(who);
    ASSERT_EQ(rest.size(), 249U);
    for (std::size_t each = 0; each < rest.size(); ++each) {
        ASSERT_EQ(rest[each], static_cast<std::int64_t>(each) + 2);
    }
    EXPECT_EQ(who.offset(), 250);
    EXPECT_FALSE(db_.run(who.try_next()));
}

TEST_F(StreamConsumer, HandsOutNothingOfOtherTopics)
{
    consumer who = consume();
    publish();
    db_.run(db_.database().stream("order").publish("1"));
    db_.run(db_.database().stream("orders@").publish("1"));
    publish();
    EXPECT_THAT(drain(who), ElementsAre(1, 4));
}

TEST_F(StreamConsumer, HandsOutKeys)
{
    db_.run(stream_.publish("customer-3", "1"));
    consumer who = consume();
    EXPECT_EQ(db_.run(who.next()).key, "customer-3");
}

TEST_F(StreamConsumer, HandsOutMany)
{
    publish_many(250);
    consumer who = consume();
    EXPECT_THAT(offsets_of(db_.run(who.next_many(3))), ElementsAre(1, 2, 3));
    EXPECT_EQ(who.offset(), 3);
    EXPECT_EQ(db_.run(who.next()).offset, 4);
    EXPECT_EQ(db_.run(who.next_many(1000)).size(), 96U) << "the rest of what was read before";
    EXPECT_EQ(db_.run(who.next_many(1000)).size(), 150U);
    EXPECT_THAT(db_.run(who.try_next_many(7)), IsEmpty());
}

TEST_F(StreamConsumer, ReadsAThousandAtOnceWhenThatIsWanted)
{
    publish_many(1200);
    consumer who = consume();
    EXPECT_EQ(db_.run(who.next_many(1000)).size(), 1000U);
    EXPECT_EQ(db_.run(who.try_next_many(1000)).size(), 200U);
}

TEST_F(StreamConsumer, HandsOutEveryEventOfLongPayloads)
{
    const std::string payload = '"' + std::string(400'000, 'x') + '"';
    for (int each = 0; each < 7; ++each) {
        publish(payload);
    }
    consumer who = consume();
    EXPECT_EQ(db_.run(who.next_many(10)).size(), 3U) << "a page ends at a mebibyte";
    EXPECT_THAT(drain(who), ElementsAre(4, 5, 6, 7));
}

TEST_F(StreamConsumer, RefusesNoneAndTooMany)
{
    consumer who = consume();
    for (const std::size_t most : {std::size_t{0}, std::size_t{1001}}) {
        EXPECT_EQ(code_of([&] { static_cast<void>(who.next_many(most)); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { static_cast<void>(who.try_next_many(most)); }),
                  errc::invalid_argument);
        EXPECT_EQ(code_of([&] { static_cast<void>(who.next_many_within(1s, most)); }),
                  errc::invalid_argument);
    }
}

TEST_F(StreamConsumer, ThatIsNewStartsAtTheFirstEvent)
{
    publish_many(3);
    consumer who = consume();
    EXPECT_EQ(saved(), 0) << "it is known from the first moment on";
    EXPECT_THAT(drain(who), ElementsAre(1, 2, 3));
}

TEST_F(StreamConsumer, ThatIsNewIsNotToldOfWhatWasRemovedBefore)
{
    publish_many(5);
    db_.run(stream_.trim({.keep = 2}));
    consumer who = consume();
    EXPECT_EQ(who.offset(), 3);
    EXPECT_EQ(saved(), 3);
    consumer again = consume();
    EXPECT_THAT(drain(who), ElementsAre(4, 5));
    EXPECT_THAT(drain(again), ElementsAre(4, 5));
}

TEST_F(StreamConsumer, ThatIsNewMissesNothingWhereAnotherProgramHasRemovedFromTheMiddle)
{
    publish_many(3);
    support::plain_connection(db_.path()).sql("DELETE FROM _honker_stream WHERE offset = 2");
    consumer who = consume();
    EXPECT_THAT(drain(who), ElementsAre(1, 3));
}

TEST_F(StreamConsumer, ThatIsNewStartsBehindTheLastWhereAllAreGone)
{
    publish_many(5);
    db_.run(stream_.trim({.keep = 0}));
    consumer who = consume();
    EXPECT_EQ(saved(), 5);
    publish();
    EXPECT_THAT(drain(who), ElementsAre(6));
}

TEST_F(StreamConsumer, ThatIsNewMayStartBehindTheLast)
{
    publish_many(3);
    consumer who = consume("c", {.start = consumer_start::saved_or_end});
    EXPECT_EQ(saved(), 3);
    EXPECT_FALSE(db_.run(who.try_next()));
    publish();
    EXPECT_THAT(drain(who), ElementsAre(4));
}

TEST_F(StreamConsumer, ResumesBehindItsSavedOffset)
{
    publish_many(5);
    db_.run(consume().save(3));
    for (const auto start : {consumer_start::saved_or_first, consumer_start::saved_or_end}) {
        consumer who = consume("c", {.start = start});
        EXPECT_EQ(who.offset(), 3);
        EXPECT_THAT(drain(who), ElementsAre(4, 5));
    }
    EXPECT_EQ(saved(), 3) << "nobody has saved";
}

TEST_F(StreamConsumer, StartsWhereItIsToldAndLeavesTheSavedOffsetAlone)
{
    publish_many(5);
    db_.run(consume().save(3));
    consumer first = consume("c", {.start = consumer_start::first});
    consumer end = consume("c", {.start = consumer_start::end});
    consumer behind = consume("c", {.behind = 1});
    consumer ahead = consume("c", {.behind = 4});
    EXPECT_EQ(saved(), 3);
    EXPECT_THAT(drain(first), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(drain(behind), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(drain(ahead), ElementsAre(5));
    EXPECT_FALSE(db_.run(end.try_next()));
    publish();
    EXPECT_THAT(drain(end), ElementsAre(6));
    EXPECT_EQ(saved(), 3);
}

TEST_F(StreamConsumer, LeavesTheSavedOffsetAloneAlsoWhereItCompletesTheTables)
{
    const support::plain_connection other(db_.path());
    for (const std::string& each : schema::streams()) {
        if (each.find("_skein_") == std::string::npos) {
            other.sql(each);
        }
    }
    other.sql("INSERT INTO _honker_stream (topic, payload) VALUES ('orders', '1'), ('orders', '2');"
              "INSERT INTO _honker_stream_consumers VALUES ('c', 'orders', 1)");
    consumer end = consume("c", {.start = consumer_start::end});
    EXPECT_EQ(saved(), 1);
    EXPECT_FALSE(db_.run(end.try_next()));
    consumer resumed = consume();
    EXPECT_THAT(drain(resumed), ElementsAre(2));
}

TEST_F(StreamConsumer, ThatIsNewIsKnownByWhereItStarts)
{
    publish_many(5);
    consume("first", {.start = consumer_start::first});
    consume("end", {.start = consumer_start::end});
    consume("behind", {.behind = 2});
    EXPECT_EQ(db_.run(stream_.consumers()),
              (std::vector<stream_consumer>{{"first", 0}, {"behind", 2}, {"end", 5}}));
}

TEST_F(StreamConsumer, MayStartBehindAnyOffset)
{
    publish_many(2);
    consumer low = consume("low", {.behind = std::numeric_limits<std::int64_t>::min()});
    consumer high = consume("high", {.behind = std::numeric_limits<std::int64_t>::max()});
    EXPECT_THAT(drain(low), ElementsAre(1, 2));
    EXPECT_FALSE(db_.run(high.try_next()));
    EXPECT_EQ(saved("high"), std::numeric_limits<std::int64_t>::max());
}

TEST_F(StreamConsumer, RefusesAStartAndAnOffsetTogether)
{
    EXPECT_EQ(code_of([&] {
                  static_cast<void>(
                      stream_.consumer("c", {.start = consumer_start::first, .behind = 1}));
              }),
              errc::invalid_argument);
    EXPECT_THAT(db_.run(stream_.consumers()), IsEmpty());
}

TEST_F(StreamConsumer, OnlyReadsWhenItResumes)
{
    consume();
    const support::statement_counter statements(db_.handle());
    consumer who = consume();
    EXPECT_EQ(statements.count("BEGIN IMMEDIATE"), 0U);
}

TEST_F(StreamConsumer, TakesOneCallAtATime)
{
    consumer who = consume();
    auto first = db_.start(who.next());
    db_.settle();
    auto second = db_.start(who.try_next());
    db_.settle();
    EXPECT_EQ(second.error(), errc::invalid_argument);
    publish();
    EXPECT_EQ(first.result().offset, 1);
    publish();
    EXPECT_EQ(db_.run(who.next()).offset, 2);
}

TEST_F(StreamConsumer, OfTwoUnderOneNameEachGetsEverything)
{
    consumer one = consume();
    consumer two = consume();
    publish_many(3);
    EXPECT_THAT(drain(one), ElementsAre(1, 2, 3));
    EXPECT_TRUE(db_.run(one.save()));
    EXPECT_EQ(db_.run(two.next()).offset, 1);
    EXPECT_FALSE(db_.run(two.save())) << "the highest counts";
    EXPECT_EQ(saved(), 3);
    EXPECT_THAT(drain(two), ElementsAre(2, 3));
}

TEST_F(StreamConsumer, IsToldOnceThatItHasLaggedAndGoesOn)
{
    publish_many(5);
    consumer who = consume();
    db_.run(stream_.trim({.keep = 2}));
    try {
        db_.run(who.next());
        ADD_FAILURE() << "not told";
    } catch (const lagged& told) {
        EXPECT_EQ(told.first(), 1);
        EXPECT_EQ(told.last(), 3);
    }
    EXPECT_EQ(who.offset(), 0);
    EXPECT_THAT(drain(who), ElementsAre(4, 5));
}

TEST_F(StreamConsumer, IsToldWhenItStartsBehindAnOffsetThatHasLagged)
{
    publish_many(5);
    db_.run(consume().save(1));
    db_.run(stream_.trim({.keep = 2}));
    consumer resumed = consume();
    consumer given = consume("another", {.behind = 2});
    for (consumer* who : {&resumed, &given}) {
        EXPECT_THROW(db_.run(who->next()), lagged);
        EXPECT_THAT(drain(*who), ElementsAre(4, 5));
    }
    consumer up_to_date = consume("third", {.behind = 3});
    EXPECT_THAT(drain(up_to_date), ElementsAre(4, 5)) << "it has missed nothing";
}

TEST_F(StreamConsumer, IsToldAlsoWhereNothingIsLeft)
{
    publish_many(5);
    consumer who = consume();
    db_.run(stream_.trim({.keep = 0}));
    EXPECT_THROW(db_.run(who.try_next()), lagged);
    EXPECT_FALSE(db_.run(who.try_next()));
    auto wait = db_.start(who.next());
    publish();
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().offset, 6);
}

TEST_F(StreamConsumer, IsForgotten)
{
    publish_many(3);
    consumer who = consume();
    drain(who);
    db_.run(who.save());
    EXPECT_TRUE(db_.run(stream_.forget_consumer("c")));
    EXPECT_FALSE(db_.run(stream_.forget_consumer("c")));
    EXPECT_THAT(db_.run(stream_.consumers()), IsEmpty());
    EXPECT_TRUE(db_.run(who.save())) << "it is entered again";
    EXPECT_TRUE(db_.run(stream_.forget_consumer("c")));
    consumer again = consume();
    EXPECT_THAT(drain(again), ElementsAre(1, 2, 3));
}

TEST_F(StreamConsumer, KeepsItsPlacePerTopic)
{
    const stream other = db_.database().stream("payments");
    db_.run(other.publish("1"));
    publish();
    db_.run(consume().save(2));
    consumer there = db_.run(other.consumer("c"));
    EXPECT_EQ(db_.run(there.next()).offset, 1);
    EXPECT_EQ(db_.run(other.consumers()), (std::vector<stream_consumer>{{"c", 0}}));
    EXPECT_EQ(saved(), 2);
}

} // namespace
