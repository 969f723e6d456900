#include "stream/stream_fixture.hpp"
#include "support/run_coroutine.hpp"

#include <asio/io_context.hpp>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StreamTrimming : public support::stream_fixture {
protected:
    std::size_t trim(const stream_retention& retention) { return db_.run(stream_.trim(retention)); }

    void run_until_commits(const statement_counter& statements, std::size_t count)
    {
        support::run_until(db_.context(), [&] { return statements.count("COMMIT") == count; });
    }
};

TEST_F(StreamTrimming, ByNumberLeavesTheLastOnes)
{
    publish_many(5);
    db_.run(db_.database().stream("payments").publish("1"));
    EXPECT_EQ(trim({.keep = 5}), 0U);
    EXPECT_EQ(trim({.keep = 2}), 3U);
    EXPECT_THAT(left(), ElementsAre(4, 5));
    EXPECT_EQ(trim({.keep = 0}), 2U);
    EXPECT_THAT(left(), IsEmpty());
    EXPECT_EQ(db_.run(stream_.last_offset()), 5) << "offsets keep their meaning";
    EXPECT_EQ(db_.run(db_.database().stream("payments").first_offset()), 6);
    EXPECT_EQ(publish(), 7) << "no offset is given again";
}

TEST_F(StreamTrimming, ByAgeLeavesTheYoungOnes)
{
    publish();
    db_.advance(10s);
    publish();
    db_.advance(10s);
    EXPECT_EQ(trim({.older_than = 20s}), 0U);
    EXPECT_EQ(trim({.older_than = 19s}), 1U);
    EXPECT_THAT(left(), ElementsAre(2));
    EXPECT_EQ(trim({.older_than = 0s}), 1U);
}

TEST_F(StreamTrimming, ByAgeStopsAtTheFirstYoungOne)
{
    publish_many(3);
    support::plain_connection(db_.path())
        .sql("UPDATE _honker_stream SET created_at = 50 WHERE offset IN (1, 3)");
    EXPECT_EQ(trim({.older_than = 10s}), 1U);
    EXPECT_THAT(left(), ElementsAre(2, 3));
}

TEST_F(StreamTrimming, OfWhatAllHavePassedWaitsForTheSlowest)
{
    publish_many(6);
    EXPECT_EQ(trim({.passed_by_all = true}), 0U) << "one may still come";
    consumer fast = consume("fast");
    consumer slow = consume("slow");
    db_.run(fast.next_many(5));
    db_.run(fast.save());
    EXPECT_EQ(trim({.passed_by_all = true}), 0U) << "the other has not even begun";
    db_.run(slow.next_many(2));
    db_.run(slow.save());
    EXPECT_EQ(trim({.passed_by_all = true}), 2U);
    EXPECT_THAT(left(), ElementsAre(3, 4, 5, 6));
    EXPECT_THAT(drain(fast), ElementsAre(6));
    EXPECT_THAT(drain(slow), ElementsAre(3, 4, 5, 6));
    consumer again = consume("slow");
    EXPECT_THAT(drain(again), ElementsAre(3, 4, 5, 6)) << "nobody has missed anything";
}

TEST_F(StreamTrimming, OfWhatAllHavePassedDoesNotWaitForTheForgotten)
{
    publish_many(6);
    consumer fast = consume("fast");
    consume("slow");
    db_.run(fast.save(5));
    db_.run(stream_.forget_consumer("slow"));
    EXPECT_EQ(trim({.passed_by_all = true}), 5U);
    db_.run(stream_.forget_consumer("fast"));
    EXPECT_EQ(trim({.passed_by_all = true}), 0U);
    EXPECT_THAT(left(), ElementsAre(6));
}

TEST_F(StreamTrimming, ByEachCriterionIsByItself)
{
    publish_many(6);
    consumer who = consume();
    db_.run(who.save(2));
    EXPECT_EQ(trim({.older_than = 10s, .keep = 5, .passed_by_all = true}), 2U);
    EXPECT_THAT(left(), ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(trim({.keep = 1, .passed_by_all = true}), 3U);
    db_.advance(1min);
    EXPECT_EQ(trim({.older_than = 10s, .keep = 100}), 1U);
}

TEST_F(StreamTrimming, WantsACriterion)
{
    publish();
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.trim({})); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.trim({.passed_by_all = false})); }),
              errc::invalid_argument);
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.trim({.older_than = -1s})); }),
              errc::invalid_argument);
    EXPECT_THAT(left(), ElementsAre(1));
}

TEST_F(StreamTrimming, WorksInSlicesThatOthersGetBetween)
{
    publish_many(2300);
    const support::plain_connection between(db_.path());
    between.sql("PRAGMA busy_timeout = 0");
    statement_counter statements(db_.handle());
    int written = 0;
    statements.when_finished("COMMIT", [&] {
        between.sql("INSERT INTO _honker_stream (topic, payload) VALUES ('orders', '1')");
        ++written;
    });
    EXPECT_EQ(trim({.keep = 800}), 1500U);
    EXPECT_EQ(statements.count("COMMIT"), 4U) << "three slices, and one that finds nothing";
    EXPECT_EQ(statements.count("LIMIT 1 OFFSET"), 1U) << "it walks past those that stay once";
    EXPECT_EQ(written, 4);
    EXPECT_EQ(db_.run(stream_.first_offset()), 1501) << "what came meanwhile does not push";
}

TEST_F(StreamTrimming, WorksInSlicesByEveryCriterion)
{
    publish_many(700);
    db_.advance(1min);
    const statement_counter statements(db_.handle());
    EXPECT_EQ(trim({.older_than = 30s}), 700U);
    EXPECT_EQ(statements.count("COMMIT"), 2U);
    publish_many(700);
    db_.run(consume().save(1300));
    const auto before = statements.count("COMMIT");
    EXPECT_EQ(trim({.passed_by_all = true}), 600U);
    EXPECT_EQ(statements.count("COMMIT"), before + 2);
}

TEST_F(StreamTrimming, LeavesWhatOneNeedsWhoComesBetweenTwoSlices)
{
    publish_many(1200);
    db_.run(consume("fast").save(1200));
    const support::plain_connection between(db_.path());
    statement_counter statements(db_.handle());
    statements.when_finished("COMMIT", [&] {
        between.sql("INSERT OR IGNORE INTO _honker_stream_consumers VALUES"
                    " ('new', 'orders', 500)");
    });
    EXPECT_EQ(trim({.passed_by_all = true}), 500U);
    EXPECT_EQ(db_.run(stream_.first_offset()), 501);
}

TEST_F(StreamTrimming, StaysDoneWhenTheRestIsCancelledBetweenTwoSlices)
{
    publish_many(1700);
    const statement_counter statements(db_.handle());
    auto trimming = db_.start(stream_.trim({.keep = 0}));
    run_until_commits(statements, 2);
    trimming.cancel();
    db_.settle();
    EXPECT_EQ(trimming.error(), asio::error::operation_aborted);
    EXPECT_EQ(db_.run(stream_.first_offset()), 1001);
    EXPECT_EQ(trim({.keep = 0}), 700U);
}

TEST_F(StreamTrimming, WakesNobodyWhoHasReadIt)
{
    publish_many(5);
    consumer who = consume();
    drain(who);
    auto wait = db_.start(who.next());
    EXPECT_EQ(trim({.keep = 0}), 5U);
    EXPECT_FALSE(wait.is_done());
    publish();
    EXPECT_EQ(wait.result().offset, 6);
}

} // namespace
