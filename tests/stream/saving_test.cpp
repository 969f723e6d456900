#include "stream/stream_fixture.hpp"
#include "support/run_coroutine.hpp"

#include <SQLiteCpp/Database.h>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What `timer || next()` does, with a timer that is over after so many turns of the executor.
asio::awaitable<std::optional<std::int64_t>> race_behind(consumer& who, int turns)
{
    const auto pass = [turns]() -> asio::awaitable<void> {
        for (int each = 0; each < turns; ++each) {
            co_await asio::post(asio::use_awaitable);
        }
    };
    const auto first = co_await (pass() || who.next());
    std::optional<std::int64_t> offset;
    if (first.index() == 1) {
        offset = std::get<1>(first).offset;
    }
    co_return offset;
}

class StreamSaving : public support::stream_fixture {
protected:
    static constexpr consumer_options automatic{.saving = consumer_saving::automatically};

    consumer consume_automatically() { return consume("c", automatic); }
};

TEST_F(StreamSaving, IsOfWhatWasHandedOut)
{
    publish_many(3);
    consumer who = consume();
    EXPECT_FALSE(db_.run(who.save())) << "nothing was handed out";
    db_.run(who.next());
    db_.run(who.next());
    EXPECT_TRUE(db_.run(who.save()));
    EXPECT_EQ(saved(), 2);
    EXPECT_FALSE(db_.run(who.save()));
    EXPECT_TRUE(db_.run(who.save(3)));
    EXPECT_FALSE(db_.run(who.save(1))) << "it never goes down";
    EXPECT_EQ(saved(), 3);
}

TEST_F(StreamSaving, IsOfWhatWasHandedOutBeforeTheCall)
{
    publish_many(3);
    consumer who = consume();
    db_.run(who.next());
    asio::awaitable<bool> save = who.save();
    db_.run(who.next());
    EXPECT_TRUE(db_.run(std::move(save)));
    EXPECT_EQ(saved(), 1);
}

TEST_F(StreamSaving, OfNothingSkipsNothingForWhoHasStartedAhead)
{
    publish_many(5);
    db_.run(consume().save(2));
    consumer ahead = consume("c", {.start = consumer_start::end});
    EXPECT_FALSE(db_.run(ahead.save()));
    EXPECT_EQ(saved(), 2);
}

TEST_F(StreamSaving, MayBeAheadOfWhatWasHandedOut)
{
    publish_many(5);
    consumer who = consume();
    EXPECT_TRUE(db_.run(who.save(4)));
    EXPECT_THAT(drain(who), ElementsAre(1, 2, 3, 4, 5)) << "it goes on where it is";
    consumer next = consume();
    EXPECT_THAT(drain(next), ElementsAre(5));
}

TEST_F(StreamSaving, IsPossibleWhileACallWaits)
{
    publish();
    consumer who = consume();
    drain(who);
    auto wait = db_.start(who.next());
    EXPECT_TRUE(db_.run(who.save()));
    EXPECT_EQ(saved(), 1);
    publish();
    EXPECT_EQ(wait.result().offset, 2);
}

TEST_F(StreamSaving, InATransactionHappensWithItsEffect)
{
    publish_many(3);
    consumer who = consume();
    db_.run(who.next());
    const auto fail = [&](transaction& tx) {
        EXPECT_TRUE(who.save(tx));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(fail)), std::runtime_error);
    EXPECT_EQ(saved(), 0);
    const auto work = [&](transaction& tx) {
        tx.database().exec("CREATE TABLE effects (offset)");
        EXPECT_TRUE(who.save(tx));
        EXPECT_FALSE(who.save(tx));
        EXPECT_FALSE(who.save(tx, 1));
        return who.save(tx, 2);
    };
    EXPECT_TRUE(db_.run(db_.database().transaction(work)));
    EXPECT_EQ(saved(), 2);
}

TEST_F(StreamSaving, InATransactionOfNothingWritesNothing)
{
    consumer who = consume("c", {.behind = 7});
    db_.run(stream_.forget_consumer("c"));
    const auto work = [&](transaction& tx) { return who.save(tx); };
    EXPECT_FALSE(db_.run(db_.database().transaction(work)));
    EXPECT_FALSE(saved());
}

TEST_F(StreamSaving, OutlivesTheDatabaseObject)
{
    publish_many(3);
    db_.run(consume().save(2));
    db_.reopen();
    stream_ = db_.database().stream("orders");
    consumer who = consume();
    EXPECT_THAT(drain(who), ElementsAre(3));
}

TEST_F(StreamSaving, ByItselfComesBeforeItReadsOn)
{
    publish_many(150);
    consumer who = consume_automatically();
    for (int each = 0; each < 100; ++each) {
        db_.run(who.next());
        ASSERT_EQ(saved(), 0) << "the same page";
    }
    EXPECT_EQ(db_.run(who.next()).offset, 101);
    EXPECT_EQ(saved(), 100);
    EXPECT_EQ(drain(who).size(), 49U);
    EXPECT_EQ(saved(), 150) << "also when there is nothing more";
}

TEST_F(StreamSaving, ByItselfIsCommittedBeforeTheNextIsReadAndOnlyOnce)
{
    publish();
    consumer who = consume_automatically();
    db_.run(who.next());
    publish();
    const support::statement_counter statements(db_.handle());
    EXPECT_EQ(db_.run(who.next()).offset, 2);
    const std::vector<std::string> all = statements.statements();
    const auto place = [&](std::string_view part) {
        return std::ranges::find_if(
                   all, [&](const std::string& each) { return each.find(part) != each.npos; }) -
               all.begin();
    };
    EXPECT_LT(place("INSERT INTO _honker_stream_consumers"), place("COMMIT"));
    EXPECT_LT(place("COMMIT"), place("FROM _honker_stream "));
    EXPECT_FALSE(db_.run(who.try_next()));
    EXPECT_FALSE(db_.run(who.try_next()));
    EXPECT_EQ(statements.count("INSERT INTO _honker_stream_consumers"), 2U)
        << "what is saved is not saved again";
}

TEST_F(StreamSaving, ByItselfRepeatsWhatWasHandedOutSince)
{
    publish_many(150);
    {
        consumer who = consume_automatically();
        EXPECT_EQ(db_.run(who.next_many(100)).size(), 100U);
        EXPECT_EQ(db_.run(who.next_many(7)).size(), 7U);
    }
    db_.reopen();
    stream_ = db_.database().stream("orders");
    consumer who = consume_automatically();
    EXPECT_EQ(db_.run(who.next()).offset, 101);
}

TEST_F(StreamSaving, ByItselfHappensBeforeItWaits)
{
    publish();
    consumer who = consume_automatically();
    db_.run(who.next());
    auto wait = db_.start(who.next_within(5s));
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    EXPECT_EQ(saved(), 1);
    db_.advance(5s);
    ASSERT_TRUE(wait.is_done());
    EXPECT_FALSE(wait.result());
}

TEST_F(StreamSaving, ByItselfHasHappenedWhenTheWaitIsCancelled)
{
    publish();
    consumer who = consume_automatically();
    db_.run(who.next());
    auto wait = db_.start(who.next());
    db_.settle();
    wait.cancel();
    db_.settle();
    EXPECT_EQ(wait.error(), asio::error::operation_aborted);
    EXPECT_EQ(saved(), 1);
    publish();
    EXPECT_THAT(drain(who), ElementsAre(2));
}

TEST_F(StreamSaving, ByItselfHasNotHappenedWhenTheCallIsCancelledBefore)
{
    publish();
    consumer who = consume_automatically();
    db_.run(who.next());
    auto call = db_.start(who.next());
    call.cancel();
    db_.settle();
    EXPECT_EQ(call.error(), asio::error::operation_aborted);
    EXPECT_EQ(saved(), 0);
    EXPECT_FALSE(db_.run(who.try_next()));
    EXPECT_EQ(saved(), 1);
}

TEST_F(StreamSaving, ByItselfIsNeverOfWhatWasNotHandedOutWhereverACancellationComes)
{
    publish_many(3);
    consumer who = consume_automatically();
    db_.run(who.next_many(3));
    publish_many(2);
    std::set<std::int64_t> when_cancelled;
    for (std::size_t steps = 1; who.offset() == 3 && steps < 100; ++steps) {
        auto call = db_.start(who.next());
        poll(steps);
        call.cancel();
        db_.settle();
        if (call.has_failed()) {
            when_cancelled.insert(saved().value());
        }
        ASSERT_EQ(call.has_failed(), who.offset() == 3) << "in step " << steps;
    }
    EXPECT_THAT(when_cancelled, ElementsAre(0, 3)) << "before and after it was saved";
    EXPECT_EQ(saved(), 3);
    EXPECT_EQ(who.offset(), 4);
    EXPECT_THAT(drain(who), ElementsAre(5));
}

TEST_F(StreamSaving, ByItselfIsNeverOfWhatWasLostInARaceForWhatWasReadBefore)
{
    publish_many(40);
    consumer who = consume_automatically();
    numbers got;
    int lost_races = 0;
    for (int turns = 0; turns < 4; ++turns) {
        got.push_back(db_.run(who.next()).offset);
        const auto offset = db_.run(race_behind(who, turns));
        lost_races += offset ? 0 : 1;
        if (offset) {
            got.push_back(*offset);
        }
        EXPECT_EQ(who.offset(), got.back());
    }
    for (const std::int64_t each : drain(who)) {
        got.push_back(each);
    }
    EXPECT_EQ(got, left());
    EXPECT_GT(lost_races, 0);
    EXPECT_LT(lost_races, 4);
}

TEST_F(StreamSaving, ByItselfThatFailsIsTriedAgain)
{
    publish();
    consumer who = consume_automatically();
    db_.run(who.next());
    const support::plain_connection other(db_.path());
    other.sql("BEGIN IMMEDIATE");
    auto call = db_.start(who.try_next());
    for (int each = 0; each < 60 && !call.is_done(); ++each) {
        db_.advance(100ms);
    }
    other.sql("COMMIT");
    ASSERT_TRUE(call.is_done());
    EXPECT_EQ(call.error(), errc::busy);
    // Who has met contention leaves the others a gap.
    support::run_coroutine(db_.context(), db_.clock(), stream_.publish("1"));
    const auto next = support::run_coroutine(db_.context(), db_.clock(), who.next());
    EXPECT_EQ(next.offset, 2);
    EXPECT_EQ(saved(), 1);
}

TEST_F(StreamSaving, ByItselfLeavesWhatIsSavedFartherAlone)
{
    publish_many(5);
    db_.run(consume().save(3));
    consumer who = consume("c", {.behind = 0, .saving = consumer_saving::automatically});
    const support::statement_counter statements(db_.handle());
    EXPECT_THAT(offsets_of(db_.run(who.next_many(2))), ElementsAre(1, 2));
    drain(who);
    EXPECT_EQ(saved(), 5);
    EXPECT_EQ(statements.count("INSERT INTO _honker_stream_consumers"), 1U);
}

TEST_F(StreamSaving, ByItselfSavesWhatWasHandedOutBeforeALag)
{
    publish_many(2);
    consumer who = consume_automatically();
    drain(who);
    publish_many(5);
    EXPECT_EQ(db_.run(who.next()).offset, 3);
    EXPECT_THAT(offsets_of(db_.run(who.next_many(10))), ElementsAre(4, 5, 6, 7));
    publish_many(3);
    db_.run(stream_.trim({.keep = 1}));
    EXPECT_THROW(db_.run(who.next()), lagged);
    EXPECT_EQ(saved(), 7);
    EXPECT_THAT(drain(who), ElementsAre(10));
    EXPECT_EQ(saved(), 10);
    consumer again = consume_automatically();
    EXPECT_FALSE(db_.run(again.try_next())) << "it was told already, and has gone on";
}

TEST_F(StreamSaving, ByItselfDoesNotHappenWhenItIsDropped)
{
    publish_many(2);
    {
        consumer who = consume_automatically();
        db_.run(who.next());
    }
    db_.settle();
    EXPECT_EQ(saved(), 0) << "nobody knows whether it was done with";
    consumer who = consume_automatically();
    EXPECT_EQ(db_.run(who.next()).offset, 1);
    EXPECT_TRUE(db_.run(who.save())) << "who knows it says so";
}

} // namespace
