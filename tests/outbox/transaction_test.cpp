#include "outbox/outbox_fixture.hpp"

#include "store/older_queue_program.hpp"
#include "support/other_process.hpp"

#include <sqlite3.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

/// What is written together with the user's rows.
class OutboxTransaction : public support::outbox_fixture {
protected:
    /// An order and one of everything.
    void write_all(outbox& box)
    {
        own_.exec("INSERT INTO orders DEFAULT VALUES");
        box.enqueue("q", "1");
        box.publish("g", "1");
        box.notify("c", "1");
        box.publish_event("t", "1");
    }

    /// Commits something on the user's own connection that makes the next use of a table a failure.
    void ignore_inserts(const std::string& table)
    {
        own_.exec("CREATE TRIGGER spoiled BEFORE INSERT ON " + table +
                  " WHEN NEW.payload = '\"bad\"' BEGIN SELECT raise(ABORT, 'spoiled'); END");
    }

    std::string tables()
    {
        return value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '\\_%' ESCAPE '\\'"
                     " OR name LIKE 'harel%'");
    }
};

TEST_F(OutboxTransaction, IsSeenWithTheUsersRowsWhenItCommits)
{
    outbox box = make();
    begin();
    write_all(box);
    EXPECT_EQ(tables(), "0");
    commit();
    EXPECT_EQ(counts(), "1 1 1 1 1");
}

TEST_F(OutboxTransaction, IsDroppedWithTheUsersRowsWhenItIsRolledBack)
{
    outbox box = make();
    write_all(box);
    ASSERT_EQ(counts(), "1 1 1 1 1");
    begin();
    write_all(box);
    roll_back();
    EXPECT_EQ(counts(), "1 1 1 1 1");
}

TEST_F(OutboxTransaction, IsDroppedWhenTheUsersTransactionObjectEndsByAThrow)
{
    const auto place = [&] {
        const SQLite::Transaction both(own_, SQLite::TransactionBehavior::IMMEDIATE);
        own_.exec("INSERT INTO orders DEFAULT VALUES");
        enqueue(own_, "q", "1");
        throw std::runtime_error("no such goods");
    };
    EXPECT_THROW(place(), std::runtime_error);
    EXPECT_EQ(value("SELECT count(*) FROM orders"), "0");
    EXPECT_EQ(tables(), "0");
}

TEST_F(OutboxTransaction, IsDroppedWithASavepointOfTheUsers)
{
    outbox box = make();
    begin();
    write_all(box);
    own_.exec("SAVEPOINT mine");
    write_all(box);
    own_.exec("ROLLBACK TO mine");
    commit();
    EXPECT_EQ(counts(), "1 1 1 1 1");
}

TEST_F(OutboxTransaction, TablesVanishWithARollbackAndAreMadeAgain)
{
    outbox box = make();
    begin();
    write_all(box);
    roll_back();
    EXPECT_EQ(tables(), "0");
    begin();
    write_all(box);
    commit();
    EXPECT_EQ(counts(), "1 1 1 1 1");
    EXPECT_EQ(db_.run(db_.database().queue("q").claim()).payload(), "1");
    EXPECT_EQ(db_.run(db_.database().transport().claim()).payload(), "1");
}

TEST_F(OutboxTransaction, TablesThatVanishWithASavepointAreMadeAgain)
{
    outbox box = make();
    begin();
    own_.exec("SAVEPOINT mine");
    write_all(box);
    own_.exec("ROLLBACK TO mine");
    write_all(box);
    commit();
    EXPECT_EQ(counts(), "1 1 1 1 1");
}

TEST_F(OutboxTransaction, ACallThatFailsIsUndoneAloneAndTheTransactionGoesOn)
{
    outbox box = make();
    box.enqueue("q", "1");
    ignore_inserts("_honker_live");
    begin();
    own_.exec("INSERT INTO orders DEFAULT VALUES");
    const std::vector<new_job> jobs = {{"2"}, {"\"bad\""}};
    expect_refusal(errc::storage_failure, "spoiled", [&] { box.enqueue_many("q", jobs); });
    EXPECT_FALSE(sqlite3_get_autocommit(own_.getHandle()));
    box.enqueue("q", "3");
    commit();
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,3");
    EXPECT_EQ(value("SELECT count(*) FROM orders"), "1");
}

TEST_F(OutboxTransaction, WithoutOneEachCallIsWholeOrNotAtAll)
{
    outbox box = make();
    box.publish_event("t", "1");
    ignore_inserts("_honker_stream");
    const std::vector<new_event> events = {{.payload = "2"}, {.payload = "\"bad\""}};
    expect_refusal(errc::storage_failure, "spoiled", [&] { box.publish_events("t", events); });
    EXPECT_TRUE(sqlite3_get_autocommit(own_.getHandle()));
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_stream"), "1");
    box.publish_event("t", "3");
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_stream"), "1,3");
}

TEST_F(OutboxTransaction, OlderTablesAreUpgraded)
{
    store::create_queue_format(support::plain_connection(db_.path()),
                               store::queue_format::without_claimed_at);
    make().enqueue("q", "1");
    EXPECT_EQ(db_.run(db_.database().queue("q").claim()).payload(), "1");
    EXPECT_EQ(value("SELECT count(*) FROM sqlite_schema WHERE name = '_skein_dead_by_time'"), "1");
}

TEST_F(OutboxTransaction, TablesOfSomebodyElseAreLeftAlone)
{
    outbox box = make({.create_schema = false});
    expect_refusal(errc::storage_failure, "_honker_live", [&] { box.enqueue("q", "1"); });
    expect_refusal(errc::storage_failure, "harel_transport", [&] { box.publish("g", "1"); });
    expect_refusal(errc::storage_failure, "_honker_notifications", [&] { box.notify("c", "1"); });
    expect_refusal(errc::storage_failure, "_honker_stream", [&] { box.publish_event("t", "1"); });
    EXPECT_EQ(tables(), "0");
    for (const std::string& each : schema::queue()) {
        own_.exec(each);
    }
    EXPECT_EQ(box.enqueue("q", "1"), 1);
}

TEST_F(OutboxTransaction, ANewerFileIsRefused)
{
    enqueue(own_, "q", "1");
    own_.exec("UPDATE _skein_meta SET version = 99 WHERE name = 'queue'");
    expect_refusal(errc::schema_too_new, db_.path().string(), [&] { enqueue(own_, "q", "2"); });
}

TEST_F(OutboxTransaction, WakesAWaitingClaimOfTheSameProcess)
{
    const skein::queue emails = db_.database().queue("emails");
    auto waiting = db_.start(emails.claim());
    outbox box = make();
    begin();
    box.enqueue("emails", "1");
    db_.advance(1s);
    EXPECT_FALSE(waiting.is_done()) << "before the commit";
    commit();
    db_.advance(1ms);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "1");
}

TEST_F(OutboxTransaction, ARollbackWakesNobody)
{
    auto waiting = db_.start(db_.database().transport().claim());
    db_.settle();
    begin();
    publish(own_, "g", "1");
    roll_back();
    db_.advance(1s);
    EXPECT_FALSE(waiting.is_done());
}

TEST_F(OutboxTransaction, ALockThatAnotherHoldsIsToldAsBusy)
{
    support::other_process other(db_.path());
    outbox box = make();
    box.enqueue("q", "1");
    other.lock();
    const auto refused = refusal([&] { box.enqueue("q", "2"); });
    other.unlock();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), errc::busy);
    EXPECT_EQ(refused->sqlite_code(), SQLITE_BUSY);
    EXPECT_TRUE(refused->is_retryable());
    EXPECT_THAT(refused->what(), HasSubstr(db_.path().string()));
    EXPECT_EQ(box.enqueue("q", "2"), 2);
}

TEST_F(OutboxTransaction, ATransactionThatBeganAsAReaderIsToldWhatToDo)
{
    outbox box = make();
    box.enqueue("q", "1");
    own_.exec("BEGIN");
    EXPECT_EQ(own_.execAndGet("SELECT count(*) FROM orders").getInt(), 0);
    support::plain_connection(db_.path()).sql("INSERT INTO orders DEFAULT VALUES");
    const auto refused = refusal([&] { box.enqueue("q", "2"); });
    roll_back();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), errc::busy);
    EXPECT_EQ(refused->sqlite_code(), SQLITE_BUSY_SNAPSHOT);
    EXPECT_THAT(refused->what(), HasSubstr("BEGIN IMMEDIATE"));
}

TEST_F(OutboxTransaction, AFullDiskIsTold)
{
    outbox box = make();
    box.publish("g", "1");
    own_.exec("PRAGMA max_page_count = 1");
    const std::string large(1'000'000, 'x');
    expect_refusal(errc::disk_full, db_.path().string(), [&] { box.publish("g", large); });
    own_.exec("PRAGMA max_page_count = 1000000");
    box.publish("g", large);
}

TEST_F(OutboxTransaction, AwaitingInsideOnesOwnIsBusyAndNamesTheOutbox)
{
    const skein::queue emails = db_.database().queue("emails");
    begin();
    auto waiting = db_.start(emails.enqueue("1"));
    for (int each = 0; each < 60 && !waiting.is_done(); ++each) {
        db_.advance(100ms);
    }
    roll_back();
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.error(), errc::busy);
    expect_refusal(errc::busy, "skein::enqueue(connection, ...)", [&] { waiting.result(); });
}

class OutboxRefusal : public support::outbox_fixture {};

TEST_F(OutboxRefusal, IsThatOfTheVerbs)
{
    outbox box = make();
    sqlite3_limit(own_.getHandle(), SQLITE_LIMIT_LENGTH, 10'000);
    const std::string long_text(9'500, ' ');
    const std::vector<new_job> jobs = {{"1"}, {"{"}};
    expect_refusal(errc::invalid_payload, "payload", [&] { box.enqueue_many("q", jobs); });
    expect_refusal(errc::invalid_payload, "payload", [&] { box.notify("c", "nonsense"); });
    expect_refusal(errc::invalid_payload, "payload",
                   [&] { box.publish_event("t", "\"\\ud800\""); });
    expect_refusal(errc::payload_too_large, "payload", [&] { box.publish("g", long_text); });
    expect_refusal(errc::payload_too_large, "payload", [&] { box.enqueue("q", long_text); });
    expect_refusal(errc::invalid_argument, "priority",
                   [&] { box.publish("g", "1", {.priority = 5}); });
    expect_refusal(errc::invalid_argument, "max_attempts",
                   [&] { box.enqueue("q", "1", {.max_attempts = 0}); });
    expect_refusal(errc::invalid_argument, "delay and run_at",
                   [&] { box.enqueue("q", "1", {.delay = 1s, .run_at = clock::wall_time{200s}}); });
    EXPECT_EQ(value("SELECT count(*) FROM sqlite_schema WHERE name <> 'orders'"), "0");
}

TEST_F(OutboxRefusal, OfAConnectionOrAPrefixThatIsNone)
{
    expect_refusal(errc::invalid_argument, "connection", [] { outbox(nullptr); });
    expect_refusal(errc::invalid_argument, "prefix", [&] { make({.prefix = "no prefix"}); });
}

} // namespace
