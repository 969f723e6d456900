#include "queue/queue_fixture.hpp"

#include <chrono>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;

class UniqueJobs : public support::queue_fixture {
protected:
    enqueued_job add(std::string_view payload, const unique_options& unique,
                     std::optional<std::chrono::seconds> delay = {})
    {
        return db_.run(queue_.enqueue(payload, {.delay = delay, .unique = unique}));
    }

    std::string payload_of(std::int64_t id)
    {
        return value("SELECT payload FROM _honker_live WHERE id = " + std::to_string(id));
    }

    std::string jobs() { return value("SELECT count(*) FROM _honker_live"); }
    std::string keys() { return value("SELECT count(*) FROM _skein_unique_jobs"); }
};

TEST_F(UniqueJobs, OneWaitsForEachKey)
{
    const enqueued_job first = add("1", {.key = "user-42"});
    const enqueued_job second = add("2", {.key = "user-42"});
    const enqueued_job other = add("3", {.key = "user-43"});

    EXPECT_TRUE(first.is_created());
    EXPECT_EQ(second.outcome, enqueue_outcome::skipped);
    EXPECT_EQ(second.id, first.id);
    EXPECT_TRUE(other.is_created());
    EXPECT_EQ(payload_of(first), "1");
    EXPECT_EQ(jobs(), "2");
}

TEST_F(UniqueJobs, KeysAreThoseOfAQueue)
{
    add("1", {.key = "k"});
    skein::queue other = db_.database().queue("other");

    EXPECT_TRUE(db_.run(other.enqueue("2", {.unique = {.key = "k"}})).is_created());
}

TEST_F(UniqueJobs, AnEmptyKeyIsAKeyAndAJobWithoutOneIsNotUnique)
{
    EXPECT_TRUE(add("1", {.key = ""}).is_created());
    EXPECT_FALSE(add("2", {.key = ""}).is_created());
    EXPECT_TRUE(add("3", {}).is_created());
    EXPECT_TRUE(add("4", {}).is_created());
}

TEST_F(UniqueJobs, AClaimFreesTheKeyOfOneThatWaits)
{
    add("1", {.key = "k"});
    const job running = claim();

    EXPECT_TRUE(add("2", {.key = "k"}).is_created());
}

TEST_F(UniqueJobs, OneThatWaitsOrRunsHoldsItsKeyToItsEnd)
{
    const unique_options unique{.key = "k", .scope = unique_scope::waiting_or_running};
    const enqueued_job first = add("1", unique);
    job running = claim();

    const enqueued_job second = add("2", unique);
    EXPECT_EQ(second.outcome, enqueue_outcome::skipped);
    EXPECT_EQ(second.id, first.id);

    EXPECT_TRUE(db_.run(running.ack()));
    EXPECT_TRUE(add("3", unique).is_created());
}

TEST_F(UniqueJobs, EveryKindOfEndFreesTheKey)
{
    const unique_options unique{.key = "k", .scope = unique_scope::waiting_or_running};
    add("1", unique);
    EXPECT_TRUE(db_.run(claim().fail("no")));
    const enqueued_job cancelled = add("2", unique);
    EXPECT_TRUE(cancelled.is_created());
    EXPECT_TRUE(db_.run(queue_.cancel(cancelled)));
    EXPECT_TRUE(db_.run(queue_.enqueue("3", {.expires_in = 1s, .unique = unique})).is_created());
    db_.advance(2s);
    EXPECT_EQ(db_.run(queue_.sweep_expired()), 1U);
    EXPECT_TRUE(add("4", unique).is_created());
    other_.sql("DELETE FROM _honker_live");
    EXPECT_EQ(keys(), "0");
    EXPECT_TRUE(add("5", unique).is_created());
}

TEST_F(UniqueJobs, AJobThatIsTriedAgainTakesItsKeyBack)
{
    const enqueued_job first = add("1", {.key = "k"});
    EXPECT_EQ(db_.run(claim().retry(10s)), retry_outcome::waiting);

    EXPECT_EQ(add("2", {.key = "k"}).id, first.id);
}

TEST_F(UniqueJobs, AJobThatIsTriedAgainGoesOnWithoutAKeyThatIsTaken)
{
    const enqueued_job first = add("1", {.key = "k"});
    job running = claim();
    const enqueued_job second = add("2", {.key = "k"});
    EXPECT_TRUE(second.is_created());

    EXPECT_EQ(db_.run(running.retry(10s)), retry_outcome::waiting);

    EXPECT_EQ(state_of(first), "scheduled");
    EXPECT_EQ(add("3", {.key = "k"}).id, second.id);
}

TEST_F(UniqueJobs, APeriodKeepsTheKeyTakenAfterTheEnd)
{
    const unique_options unique{.key = "k", .period = 60s};
    const enqueued_job first = add("1", unique);
    EXPECT_TRUE(db_.run(claim().ack()));

    db_.advance(59s);
    const enqueued_job second = add("2", unique);
    EXPECT_EQ(second.outcome, enqueue_outcome::skipped);
    EXPECT_EQ(second.id, first.id);

    db_.advance(1s);
    EXPECT_TRUE(add("3", unique).is_created());
}

TEST_F(UniqueJobs, APeriodThatIsOverLeavesTheKeyToTheJobThatWaits)
{
    const enqueued_job first = add("1", {.key = "k", .period = 1s}, 1h);
    db_.advance(10s);

    EXPECT_EQ(add("2", {.key = "k"}).id, first.id);
}

TEST_F(UniqueJobs, KeysWhosePeriodIsOverDoNotPileUp)
{
    for (int i = 0; i < 50; ++i) {
        add("1", {.key = std::to_string(i), .period = 1s});
        EXPECT_TRUE(db_.run(claim().ack()));
        db_.advance(2s);
    }
    EXPECT_LE(std::stoi(keys()), 2);

    // Nor do those whose jobs live on keep others from being forgotten.
    for (int i = 0; i < 10; ++i) {
        add("1", {.key = "late " + std::to_string(i), .period = 1s}, 1h);
    }
    other_.sql("DELETE FROM _honker_live");
    db_.advance(2s);
    for (int i = 0; i < 20; ++i) {
        add("1", {.key = "last", .period = 1s});
        EXPECT_TRUE(db_.run(claim().ack()));
        db_.advance(2s);
    }
    EXPECT_LE(std::stoi(keys()), 2);
}

TEST_F(UniqueJobs, OnConflictThePayloadIsReplaced)
{
    const enqueued_job first = add("1", {.key = "k"}, 10s);
    const enqueued_job second =
        add("2", {.key = "k", .on_conflict = on_conflict::replace_payload}, 20s);

    EXPECT_EQ(second.outcome, enqueue_outcome::changed);
    EXPECT_EQ(second.id, first.id);
    EXPECT_EQ(payload_of(first), "2");
    EXPECT_EQ(value("SELECT run_at FROM _honker_live"), "110");
}

TEST_F(UniqueJobs, OnConflictTheDueTimeIsMoved)
{
    const enqueued_job first = add("1", {.key = "k"}, 10s);
    db_.advance(5s);
    const unique_options moving{.key = "k", .on_conflict = on_conflict::move_due_time};

    EXPECT_EQ(add("2", moving, 10s).outcome, enqueue_outcome::changed);
    EXPECT_EQ(payload_of(first), "1");
    EXPECT_EQ(value("SELECT run_at FROM _honker_live"), "115");

    EXPECT_EQ(add("3", moving).outcome, enqueue_outcome::changed);
    EXPECT_EQ(state_of(first), "pending");
}

TEST_F(UniqueJobs, OnConflictBothAreChanged)
{
    add("1", {.key = "k"}, 10s);
    add("2", {.key = "k", .on_conflict = on_conflict::replace_and_move}, 20s);

    EXPECT_EQ(value("SELECT payload || ' ' || run_at FROM _honker_live"), "2 120");
}

TEST_F(UniqueJobs, AJobThatRunsIsNeverChanged)
{
    const unique_options unique{.key = "k",
                                .scope = unique_scope::waiting_or_running,
                                .on_conflict = on_conflict::replace_and_move};
    const enqueued_job first = add("1", unique);
    const job running = claim();

    EXPECT_EQ(add("2", unique).outcome, enqueue_outcome::skipped);
    EXPECT_EQ(payload_of(first), "1");
}

TEST_F(UniqueJobs, AmongManyEachIsTold)
{
    const std::vector<new_job> wanted{{.payload = "1", .options = {.unique = {.key = "k"}}},
                                      {.payload = "2"},
                                      {.payload = "3", .options = {.unique = {.key = "k"}}}};
    const std::vector<enqueued_job> done = db_.run(queue_.enqueue_many(wanted));

    ASSERT_EQ(done.size(), 3U);
    EXPECT_TRUE(done[0].is_created());
    EXPECT_TRUE(done[1].is_created());
    EXPECT_EQ(done[2].outcome, enqueue_outcome::skipped);
    EXPECT_EQ(done[2].id, done[0].id);
}

TEST_F(UniqueJobs, WhatIsRolledBackTakesNoKey)
{
    const auto enqueue_and_fail = [&](transaction& tx) {
        EXPECT_TRUE(queue_.enqueue(tx, "1", {.unique = {.key = "k"}}).is_created());
        EXPECT_FALSE(queue_.enqueue(tx, "2", {.unique = {.key = "k"}}).is_created());
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(enqueue_and_fail)), std::runtime_error);

    EXPECT_TRUE(add("3", {.key = "k"}).is_created());
}

TEST_F(UniqueJobs, APeriodMustBePositive)
{
    try {
        add("1", {.key = "k", .period = 0s});
        FAIL();
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        EXPECT_THAT(refused.what(), ::testing::HasSubstr("period must be at least 1 s, got 0 s"));
    }
}

TEST_F(UniqueJobs, NothingIsMadeInTheFileBeforeAKeyIsUsed)
{
    enqueue();
    const std::string count = "SELECT count(*) FROM sqlite_schema WHERE name LIKE "
                              "'_skein_unique%' OR name LIKE '_skein_%job%' OR type = 'trigger'";
    EXPECT_EQ(value(count), "0");

    add("1", {.key = "k"});
    EXPECT_NE(value(count), "0");
    EXPECT_EQ(value("SELECT version FROM _skein_meta WHERE name = 'unique_jobs'"), "1");
}

TEST_F(UniqueJobs, AReplacedRowDoesNotHoldItsKeyForEver)
{
    // A REPLACE deletes without telling triggers.
    const enqueued_job first = add("1", {.key = "k"});
    other_.sql("INSERT OR REPLACE INTO _honker_live (id, queue, payload, run_at) VALUES (" +
               std::to_string(first.id) + ", 'elsewhere', '2', 0)");

    EXPECT_TRUE(add("3", {.key = "k"}).is_created());
}

} // namespace
