#include "queue/queue_fixture.hpp"
#include "store/older_queue_program.hpp"
#include "support/statement_counter.hpp"

#include <skein/json.hpp>

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::operation;
using support::plain_connection;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const job_end& end)
{
    if (end.result) {
        return *end.result;
    }
    return end.is_gone() ? "gone" : "dead: " + end.death->last_error.value_or("NULL");
}

/// What a wait has brought: a result, "dead: <why>", "gone", "none" at its limit, or "waits".
template <class Result>
std::string outcome(operation<Result>& wait)
{
    if (!wait.is_done()) {
        return "waits";
    }
    const auto end = wait.result();
    if constexpr (std::is_same_v<Result, job_end>) {
        return text_of(end);
    } else {
        return end ? text_of(*end) : "none";
    }
}

class ResultWaiting : public support::queue_fixture {
protected:
    /// Starts a wait for a job; nothing has been looked at before the test settles.
    operation<job_end> start_wait(std::int64_t id)
    {
        auto wait = db_.start(results_.wait(id));
        db_.settle();
        return wait;
    }

    std::string wait_within(duration limit, std::int64_t id)
    {
        auto wait = db_.start(results_.wait_within(limit, id));
        db_.settle();
        return outcome(wait);
    }

    /// Lets the database see what others have committed.
    void watch() { db_.advance(1ms); }

    void save(std::int64_t id, std::string_view text) { db_.run(results_.save(id, text)); }

    /// Enqueues so many jobs. Returns their numbers.
    std::vector<std::int64_t> enqueue_many(std::size_t count)
    {
        const std::vector<new_job> jobs(count, new_job{"null"});
        const std::vector<enqueued_job> enqueued = db_.run(queue_.enqueue_many(jobs));
        return {enqueued.begin(), enqueued.end()};
    }

    skein::results results_ = db_.database().results();
};

TEST_F(ResultWaiting, EndsWithAResultThatIsThere)
{
    save(7, "1");
    auto wait = start_wait(7);
    EXPECT_EQ(outcome(wait), "1");
}

TEST_F(ResultWaiting, EndsWhenAResultIsSavedEvenWhileTheJobIsLive)
{
    const std::int64_t id = enqueue();
    auto wait = start_wait(id);
    const job held = claim();
    db_.settle();
    EXPECT_EQ(outcome(wait), "waits");
    save(id, R"({"pages":3})");
    EXPECT_EQ(outcome(wait), R"({"pages":3})");
    auto again = start_wait(id);
    EXPECT_EQ(outcome(again), R"({"pages":3})");
}

TEST_F(ResultWaiting, GoesOnThroughAllThatLeavesTheJobLive)
{
    const std::int64_t id = enqueue();
    auto wait = start_wait(id);
    job first = claim();
    EXPECT_EQ(db_.run(first.retry(10s)), retry_outcome::waiting);
    db_.advance(10s);
    job second = claim();
    EXPECT_TRUE(db_.run(second.extend(1h)));
    EXPECT_TRUE(db_.run(second.snooze(5s)));
    db_.advance(1h);
    job third = claim({.visibility = 1s});
    EXPECT_EQ(db_.run(third.release()) ? "released" : "stale", std::string("released"));
    save(id + 1, "1");
    enqueue();
    EXPECT_EQ(outcome(wait), "waits");
}

TEST_F(ResultWaiting, EndsWithNeitherWhenTheJobIsAcknowledgedWithoutAResult)
{
    const std::int64_t id = enqueue();
    job held = claim();
    auto wait = start_wait(id);
    EXPECT_TRUE(db_.run(held.ack()));
    EXPECT_EQ(outcome(wait), "gone");
}

TEST_F(ResultWaiting, EndsWithTheResultThatIsSavedTogetherWithTheEnd)
{
    const std::int64_t id = enqueue();
    job held = claim();
    auto wait = start_wait(id);
    const auto finish = [&](transaction& tx) {
        EXPECT_TRUE(held.ack(tx));
        results_.save(tx, id, "1");
    };
    db_.run(db_.database().transaction(finish));
    EXPECT_EQ(outcome(wait), "1");
}

TEST_F(ResultWaiting, HearsNothingOfATransactionThatIsRolledBack)
{
    const std::int64_t id = enqueue();
    job held = claim();
    auto wait = start_wait(id);
    const auto undone = [&](transaction& tx) {
        EXPECT_TRUE(held.ack(tx));
        results_.save(tx, id, "1");
        throw std::runtime_error("undone");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(undone)), std::runtime_error);
    EXPECT_EQ(outcome(wait), "waits");
    EXPECT_EQ(state_of(id), "processing");
    save(id, "2");
    EXPECT_EQ(outcome(wait), "2");
}

TEST_F(ResultWaiting, EndsWithADeathByFail)
{
    const std::int64_t id = enqueue();
    job held = claim();
    auto wait = start_wait(id);
    db_.advance(3s);
    EXPECT_TRUE(db_.run(held.fail("no such address")));
    ASSERT_TRUE(wait.is_done());
    const job_end end = wait.result();
    ASSERT_TRUE(end.death);
    EXPECT_FALSE(end.is_gone());
    EXPECT_EQ(end.death->last_error, "no such address");
    EXPECT_EQ(end.death->died_at, clock::wall_time(103s));
}

TEST_F(ResultWaiting, EndsWithADeathByTheLastRetry)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    job held = claim();
    auto wait = start_wait(id);
    EXPECT_EQ(db_.run(held.retry(1s, "too often")), retry_outcome::dead);
    EXPECT_EQ(outcome(wait), "dead: too often");
}

TEST_F(ResultWaiting, EndsWithADeathByAHandlerThatDropsItsLastAttempt)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    auto wait = start_wait(id);
    {
        const job held = claim();
        EXPECT_EQ(held.payload(), "null");
    }
    db_.settle();
    EXPECT_EQ(outcome(wait), "dead: max attempts exceeded");
}

TEST_F(ResultWaiting, EndsWithDeathsByHousekeepingInsideSomebodysClaim)
{
    const std::int64_t expiring = enqueue("null", {.delay = 1h, .expires_in = 10s});
    const std::int64_t exhausted = enqueue("null", {.max_attempts = 1});
    static_cast<void>(claim({.visibility = 5s}).detach());
    auto first = start_wait(expiring);
    auto second = start_wait(exhausted);
    db_.advance(10s);
    EXPECT_EQ(outcome(first) + outcome(second), "waitswaits") << "nobody has looked";
    EXPECT_FALSE(db_.run(queue_.try_claim()));
    EXPECT_EQ(outcome(first), "dead: expired");
    EXPECT_EQ(outcome(second), "dead: max attempts exceeded");
}

TEST_F(ResultWaiting, EndsWithADeathThatAWaitingClaimWakesUpFor)
{
    const std::int64_t id = enqueue("null", {.max_attempts = 1});
    static_cast<void>(claim({.visibility = 5s}).detach());
    auto wait = start_wait(id);
    const auto worker = db_.start(queue_.claim());
    db_.settle();
    enqueue("null", {.delay = 10s});
    db_.advance(11s);
    EXPECT_TRUE(worker.is_done());
    EXPECT_EQ(outcome(wait), "dead: max attempts exceeded");
}

TEST_F(ResultWaiting, TellsADeathWithoutAnError)
{
    other_.sql("INSERT INTO _honker_dead (id, queue, payload, died_at)"
               " VALUES (7, 'q', 'null', 9223372036854775807)");
    auto wait = start_wait(7);
    EXPECT_EQ(outcome(wait), "dead: NULL");
}

TEST_F(ResultWaiting, PrefersAResultToADeath)
{
    const std::int64_t id = enqueue();
    save(id, "1");
    job held = claim();
    EXPECT_TRUE(db_.run(held.fail("afterwards")));
    auto wait = start_wait(id);
    ASSERT_TRUE(wait.is_done());
    const job_end end = wait.result();
    EXPECT_EQ(end.result, "1");
    EXPECT_FALSE(end.death);
}

TEST_F(ResultWaiting, KnowsNoResultWhoseTimeIsOver)
{
    const std::int64_t id = enqueue();
    db_.run(results_.save(id, "1", {.ttl = 10s}));
    db_.advance(10s);
    auto wait = start_wait(id);
    EXPECT_EQ(outcome(wait), "waits");
    job held = claim();
    EXPECT_TRUE(db_.run(held.ack()));
    EXPECT_EQ(outcome(wait), "gone");
}

TEST_F(ResultWaiting, EndsAtOnceForAJobThatHasNeverBeen)
{
    for (const std::int64_t id :
         {std::int64_t{12345}, std::int64_t{0}, std::numeric_limits<std::int64_t>::min()}) {
        auto wait = start_wait(id);
        EXPECT_EQ(outcome(wait), "gone") << id;
    }
}

TEST_F(ResultWaiting, HearsOfWhatOtherProgramsDo)
{
    const auto ids = enqueue_many(4);
    std::vector<operation<job_end>> waits;
    for (const std::int64_t each : ids) {
        waits.push_back(start_wait(each));
    }
    other_.sql("INSERT INTO _honker_results (job_id, value) VALUES (" + std::to_string(ids[0]) +
               ", '\"theirs\"')");
    other_.sql("DELETE FROM _honker_live WHERE id = " + std::to_string(ids[1]));
    other_.sql("BEGIN; INSERT INTO _honker_dead (id, queue, payload, last_error) SELECT id, queue,"
               " payload, 'by hand' FROM _honker_live WHERE id = " +
               std::to_string(ids[2]) +
               "; DELETE FROM _honker_live WHERE id = " + std::to_string(ids[2]) + "; COMMIT");
    EXPECT_EQ(outcome(waits[0]), "waits");
    watch();
    EXPECT_EQ(outcome(waits[0]), "\"theirs\"");
    EXPECT_EQ(outcome(waits[1]), "gone");
    EXPECT_EQ(outcome(waits[2]), "dead: by hand");
    EXPECT_EQ(outcome(waits[3]), "waits");
}

TEST_F(ResultWaiting, HearsOfWhatTheUsersOwnStatementsDo)
{
    const std::int64_t id = enqueue();
    auto wait = start_wait(id);
    const auto cancel = [](transaction& tx) { tx.database().exec("DELETE FROM _honker_live"); };
    db_.run(db_.database().transaction(cancel));
    EXPECT_EQ(outcome(wait), "gone");
}

TEST_F(ResultWaiting, MissesNothingThatIsCommittedWhileItLooks)
{
    job held;
    const std::int64_t id = enqueue();
    held = claim();
    statement_counter statements(db_.handle());
    bool is_over = false;
    statements.when_finished("FROM _honker_results", [&] {
        if (!std::exchange(is_over, true)) {
            other_.sql("BEGIN; INSERT INTO _honker_results (job_id, value) VALUES (" +
                       std::to_string(id) + ", '1'); DELETE FROM _honker_live; COMMIT");
        }
    });
    auto wait = start_wait(id);
    EXPECT_TRUE(is_over);
    EXPECT_EQ(outcome(wait), "1");
    static_cast<void>(held.detach());
}

TEST_F(ResultWaiting, EndsForEverybodyWhoWaitsForTheJob)
{
    const std::int64_t id = enqueue();
    std::vector<operation<job_end>> waits;
    for (int each = 0; each < 5; ++each) {
        waits.push_back(start_wait(id));
    }
    const skein::results foreign_schema = db_.database().results({.create_schema = false});
    waits.push_back(db_.start(foreign_schema.wait(id)));
    db_.settle();
    save(id, "1");
    for (auto& each : waits) {
        EXPECT_EQ(outcome(each), "1");
    }
}

TEST_F(ResultWaiting, WithoutTablesFindsNoJobAndMakesNoTables)
{
    manual_database empty;
    const plain_connection file(empty.path());
    const auto results = empty.database().results();
    EXPECT_TRUE(empty.run(results.wait(1)).is_gone());
    EXPECT_TRUE(empty.run(results.wait_within(1h, 1))->is_gone());
    EXPECT_EQ(file.value("SELECT count(*) FROM sqlite_schema"), "0");

    // In a batch of others, too.
    auto wait = empty.start(results.wait(1));
    const auto nothing = [](transaction&) {};
    const auto transaction = empty.start(empty.database().transaction(nothing));
    empty.settle();
    EXPECT_TRUE(transaction.is_done());
    EXPECT_EQ(outcome(wait), "gone");
    EXPECT_EQ(file.value("SELECT count(*) FROM sqlite_schema"), "0");
}

TEST_F(ResultWaiting, FindsAJobThatTheSameBatchEnqueuesIntoAnEmptyFile)
{
    manual_database empty;
    auto enqueue = empty.start(empty.database().queue("q").enqueue("1"));
    auto wait = empty.start(empty.database().results().wait(1));
    empty.settle();
    EXPECT_EQ(enqueue.result(), 1);
    EXPECT_EQ(outcome(wait), "waits");
    empty.run(empty.database().results().save(1, "2"));
    EXPECT_EQ(outcome(wait), "2");
}

TEST_F(ResultWaiting, GivesUpAtItsLimit)
{
    const std::int64_t id = enqueue();
    auto wait = db_.start(results_.wait_within(5s, id));
    db_.settle();
    db_.advance(4999ms);
    EXPECT_EQ(outcome(wait), "waits");
    db_.advance(1ms);
    EXPECT_EQ(outcome(wait), "none");
}

TEST_F(ResultWaiting, ReturnsWhatComesBeforeItsLimit)
{
    const std::int64_t id = enqueue();
    auto wait = db_.start(results_.wait_within(5s, id));
    db_.settle();
    db_.advance(4s);
    save(id, "1");
    EXPECT_EQ(outcome(wait), "1");
}

TEST_F(ResultWaiting, WithinNoTimeIsNowOrNothing)
{
    const std::int64_t live = enqueue();
    save(live + 1, "1");
    for (const duration limit : {duration(0), duration(-1), duration(-std::chrono::years{200}),
                                 duration::min(), duration(-1e300)}) {
        EXPECT_EQ(wait_within(limit, live), "none");
        EXPECT_EQ(wait_within(limit, live + 1), "1");
        EXPECT_EQ(wait_within(limit, live + 2), "gone");
    }
    EXPECT_EQ(db_.clock().alarms(), 0U);
}

TEST_F(ResultWaiting, WithinTheLongestTimeHasNoLimit)
{
    const std::int64_t id = enqueue();
    std::vector<operation<std::optional<job_end>>> waits;
    for (const duration limit : {duration(std::chrono::years{200}), duration::max(),
                                 duration(std::numeric_limits<double>::infinity())}) {
        waits.push_back(db_.start(results_.wait_within(limit, id)));
    }
    db_.settle();
    db_.advance(std::chrono::years{50});
    save(id, "1");
    for (auto& each : waits) {
        EXPECT_EQ(outcome(each), "1");
    }
}

TEST_F(ResultWaiting, RefusesALimitThatIsNoNumber)
{
    EXPECT_THROW(static_cast<void>(
                     results_.wait_within(duration(std::numeric_limits<double>::quiet_NaN()), 1)),
                 error);
}

TEST_F(ResultWaiting, EndsWhenItIsCancelledAndHidesNobody)
{
    const std::int64_t id = enqueue();
    auto cancelled = start_wait(id);
    auto next = start_wait(id);
    cancelled.cancel();
    db_.settle();
    EXPECT_EQ(cancelled.error(), asio::error::operation_aborted);
    save(id, "1");
    EXPECT_EQ(outcome(next), "1");
    EXPECT_EQ(db_.clock().alarms(), 0U);
}

TEST_F(ResultWaiting, EndsWhenTheDatabaseIsClosed)
{
    auto wait = start_wait(enqueue());
    db_.run(db_.database().close());
    EXPECT_EQ(wait.error(), make_error_code(errc::closed));
}

TEST_F(ResultWaiting, TakesNoWriteLock)
{
    const std::int64_t id = enqueue();
    save(id + 1, "1");
    statement_counter statements(db_.handle());
    other_.sql("BEGIN IMMEDIATE");
    EXPECT_EQ(wait_within(0s, id + 1), "1");
    EXPECT_EQ(wait_within(0s, id), "none");
    auto wait = start_wait(id);
    other_.sql("INSERT INTO _honker_results (job_id, value) VALUES (" + std::to_string(id) +
               ", '2')");
    watch();
    EXPECT_EQ(outcome(wait), "waits") << "it is not committed";
    other_.sql("COMMIT");
    other_.sql("BEGIN IMMEDIATE");
    watch();
    EXPECT_EQ(outcome(wait), "2");
    EXPECT_EQ(statements.count("BEGIN"), 0U);
    other_.sql("COMMIT");
}

TEST_F(ResultWaiting, TakesNoWriteLockForTablesThatAnotherProgramHasMade)
{
    const support::temporary_directory directory;
    const plain_connection file(directory / "theirs.db");
    store::create_queue_format(file, store::queue_format::newest);
    file.sql("INSERT INTO _honker_live (queue, payload) VALUES ('q', '1')");
    manual_database database(directory / "theirs.db");
    file.sql("BEGIN IMMEDIATE; INSERT INTO _honker_results (job_id, value) VALUES (1, '2')");
    auto wait = database.start(database.database().results().wait(1));
    database.settle();
    EXPECT_EQ(outcome(wait), "waits");
    file.sql("COMMIT; BEGIN IMMEDIATE");
    database.advance(1ms);
    EXPECT_EQ(outcome(wait), "2");
    file.sql("COMMIT");
}

class ResultWaitingOnOlderTables : public ::testing::TestWithParam<store::queue_format> {
protected:
    ResultWaitingOnOlderTables()
    {
        store::create_queue_format(file_, GetParam());
        file_.sql("INSERT INTO _honker_live (queue, payload) VALUES ('q', '1')");
    }

    support::temporary_directory directory_;
    plain_connection file_{directory_ / "test.db"};
    manual_database db_{directory_ / "test.db"};
    skein::results results_ = db_.database().results();
};

TEST_P(ResultWaitingOnOlderTables, UpgradesThem)
{
    auto wait = db_.start(results_.wait(1));
    db_.settle();
    EXPECT_EQ(outcome(wait), "waits");
    EXPECT_EQ(file_.value("SELECT version FROM _skein_meta"), "1");
    file_.sql("DELETE FROM _honker_live");
    db_.advance(1ms);
    EXPECT_EQ(outcome(wait), "gone");
}

TEST_P(ResultWaitingOnOlderTables, UpgradesThemWhereThereAreNoResults)
{
    file_.sql("DROP TABLE _honker_results");
    EXPECT_FALSE(db_.run(results_.wait_within(0s, 1)));
    db_.run(results_.save(1, "2"));
    EXPECT_EQ(db_.run(results_.wait(1)).result, "2");
}

TEST_P(ResultWaitingOnOlderTables, IsLimitedWhileAnotherProgramKeepsTheLock)
{
    file_.sql("BEGIN IMMEDIATE");
    auto limited = db_.start(results_.wait_within(1s, 1));
    auto wait = db_.start(results_.wait(1));
    db_.settle();
    for (int each = 0; each < 10; ++each) {
        EXPECT_EQ(outcome(limited) + outcome(wait), "waitswaits");
        db_.advance(100ms);
    }
    EXPECT_EQ(outcome(limited), "none");
    db_.advance(manual_database::quick().busy_timeout);
    EXPECT_EQ(wait.error(), make_error_code(errc::busy));
    file_.sql("COMMIT");
}

TEST_P(ResultWaitingOnOlderTables, LeavesThemAloneWhereTheyAreSomebodyElses)
{
    const auto before = file_.sql("SELECT name FROM sqlite_schema");
    auto wait = db_.start(db_.database().results({.create_schema = false}).wait(1));
    db_.settle();
    EXPECT_EQ(outcome(wait), "waits");
    file_.sql("INSERT INTO _honker_results (job_id, value) VALUES (1, '2')");
    db_.advance(1ms);
    EXPECT_EQ(outcome(wait), "2");
    EXPECT_EQ(file_.sql("SELECT name FROM sqlite_schema"), before);
}

INSTANTIATE_TEST_SUITE_P(OfEveryShape, ResultWaitingOnOlderTables,
                         ::testing::Values(store::queue_format::without_claimed_at,
                                           store::queue_format::without_scheduled));

TEST_F(ResultWaiting, DoesNotFailWithThoseWhoseTablesAreMissing)
{
    manual_database fresh;
    auto foreign = fresh.start(fresh.database().results({.create_schema = false}).wait(1));
    auto wait = fresh.start(fresh.database().results().wait(1));
    fresh.settle();
    EXPECT_EQ(foreign.error(), make_error_code(errc::storage_failure));
    ASSERT_TRUE(wait.is_done());
    EXPECT_FALSE(wait.result().result);
}

TEST_F(ResultWaiting, CostsNoQueryWhileNothingHappens)
{
    auto wait = start_wait(enqueue());
    statement_counter statements(db_.handle());
    for (int each = 0; each < 100; ++each) {
        watch();
    }
    db_.advance(1h);
    EXPECT_EQ(statements.count("_honker"), 0U);
    EXPECT_EQ(outcome(wait), "waits");
}

TEST_F(ResultWaiting, ByManyWakesOnlyThoseWhoseJobHasEnded)
{
    const auto ids = enqueue_many(1000);
    std::vector<operation<job_end>> waits;
    for (const std::int64_t each : ids) {
        waits.push_back(db_.start(results_.wait(each)));
    }
    db_.settle();
    std::vector<job> held = db_.run(queue_.claim_many(3));
    db_.settle();
    statement_counter statements(db_.handle());
    EXPECT_TRUE(db_.run(held[0].ack()));
    EXPECT_EQ(outcome(waits[0]), "gone");
    EXPECT_EQ(statements.count("FROM _honker_results"), 2U) << "both looks of one waiter";
    EXPECT_LT(statements.count(), 20U);

    statements.reset();
    save(ids[500], "1");
    EXPECT_EQ(outcome(waits[500]), "1");
    EXPECT_EQ(statements.count("FROM _honker_results"), 1U);

    statements.reset();
    EXPECT_EQ(db_.run(held[1].retry()), retry_outcome::waiting);
    enqueue();
    EXPECT_EQ(statements.count("FROM _honker_results"), 0U) << "nothing has ended";
    EXPECT_EQ(std::ranges::count_if(waits, [](auto& each) { return each.is_done(); }), 2);
}

TEST_F(ResultWaiting, ByManyLeavesNothingBehindAtItsLimit)
{
    const auto ids = enqueue_many(10'000);
    std::vector<operation<std::optional<job_end>>> waits;
    for (const std::int64_t each : ids) {
        waits.push_back(db_.start(results_.wait_within(5s, each)));
    }
    db_.settle();
    EXPECT_GT(db_.clock().alarms(), 0U);
    db_.advance(5s);
    EXPECT_TRUE(std::ranges::all_of(waits, [](auto& each) { return outcome(each) == "none"; }));
    EXPECT_EQ(db_.clock().alarms(), 0U) << "the watcher has stopped";

    auto wait = start_wait(ids.front());
    statement_counter statements(db_.handle());
    other_.sql("DELETE FROM _honker_live WHERE id = " + std::to_string(ids.back()));
    watch();
    EXPECT_EQ(statements.count("FROM _honker_results"), 1U) << "nobody else is left to look for";
    EXPECT_EQ(outcome(wait), "waits");
}

TEST_F(ResultWaiting, BringsValues)
{
    const nlohmann::json pages = {{"pages", 3}};
    db_.run(results_.save(1, pages));
    EXPECT_EQ(db_.run(results_.wait(1)).value<nlohmann::json>(), pages);
    EXPECT_THROW(static_cast<void>(db_.run(results_.wait(1)).value<int>()), error);
}

TEST_F(ResultWaiting, BringsNoValueWithoutAResult)
{
    const std::int64_t id = enqueue();
    job held = claim();
    EXPECT_TRUE(db_.run(held.fail("the disk was full")));
    const auto refusal = [](const job_end& end) {
        try {
            static_cast<void>(end.value<nlohmann::json>());
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::invalid_payload));
            return std::string(refused.what());
        }
        return std::string();
    };
    EXPECT_THAT(refusal(db_.run(results_.wait(id))), HasSubstr("the disk was full"));
    EXPECT_THAT(refusal(db_.run(results_.wait(id + 1))), HasSubstr("gone"));
    EXPECT_TRUE(job_end().is_gone());
}

} // namespace
