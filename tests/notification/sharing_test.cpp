#include "notification/notification_fixture.hpp"
#include "support/other_process.hpp"

#include <skein/schema.hpp>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::other_process;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SharedChannel : public support::notification_fixture {
protected:
    /// The tables as a program makes them that knows the format alone.
    void bootstrap()
    {
        other_.sql("CREATE TABLE _honker_notifications (id INTEGER PRIMARY KEY AUTOINCREMENT,"
                   " channel TEXT NOT NULL, payload TEXT NOT NULL,"
                   " created_at INTEGER NOT NULL DEFAULT (unixepoch()));"
                   "CREATE INDEX _honker_notifications_recent ON _honker_notifications"
                   " (channel, id)");
    }

    listener listen_without_schema()
    {
        return db_.run(db_.database().listen("orders", {.create_schema = false}));
    }

    std::string additions()
    {
        return other_.value("SELECT count(*) FROM sqlite_schema WHERE name GLOB '_skein_*notif*'");
    }

    void tell_in_sql(std::string_view payload)
    {
        process_.sql("INSERT INTO _honker_notifications (channel, payload) VALUES ('orders', '" +
                     std::string(payload) + "')");
    }

    other_process process_{db_.path()};
};

TEST_F(SharedChannel, BringsWhatAnotherProcessTellsInSql)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    tell_in_sql("1");
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "1");
    tell_in_sql("2");
    notify("3");
    EXPECT_THAT(drain(inbox), ElementsAre("2", "3"));
}

TEST_F(SharedChannel, BringsNothingBeforeTheOtherProcessCommits)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    process_.sql("BEGIN");
    tell_in_sql("1");
    db_.advance(1ms);
    EXPECT_FALSE(wait.is_done());
    process_.sql("ROLLBACK");
    db_.advance(1ms);
    EXPECT_FALSE(wait.is_done());
    tell_in_sql("2");
    db_.advance(1ms);
    EXPECT_EQ(wait.result().payload, "2");
}

TEST_F(SharedChannel, IsReadByAnotherProcessInSql)
{
    const std::int64_t first = notify(R"({"a": 1})");
    notify("2", "mails");
    const std::int64_t third = notify("3");
    EXPECT_THAT(
        process_.sql("SELECT id, payload, created_at FROM _honker_notifications"
                     " WHERE channel = 'orders' AND id > 0 ORDER BY id"),
        ElementsAre(std::to_string(first) + "|{\"a\": 1}|100", std::to_string(third) + "|3|100"));
}

TEST_F(SharedChannel, IsHeardWhileAnotherProcessHoldsTheLock)
{
    listener inbox = listen();
    notify("1");
    process_.lock();
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
    listener late = listen();
    EXPECT_THAT(drain(late), IsEmpty());
    auto tell = db_.start(db_.database().notify("orders", "2"));
    db_.settle();
    EXPECT_FALSE(tell.is_done());
    process_.unlock();
    db_.advance(10ms);
    EXPECT_TRUE(tell.is_done());
    EXPECT_THAT(drain(inbox), ElementsAre("2"));
}

TEST_F(SharedChannel, OfTwoDatabasesBringsTheSameToBoth)
{
    manual_database second(db_.path(), manual_database::quick(), db_.clock_to_share());
    listener here = listen();
    listener there = second.run(second.database().listen("orders"));
    auto waiting_here = db_.start(here.next());
    auto waiting_there = second.start(there.next());
    db_.settle();
    second.settle();
    notify("1");
    db_.clock().advance(1ms);
    second.settle();
    EXPECT_EQ(waiting_here.result().payload, "1");
    ASSERT_TRUE(waiting_there.is_done());
    EXPECT_EQ(waiting_there.result().payload, "1");
    second.run(second.database().notify("orders", "2"));
    db_.advance(1ms);
    EXPECT_THAT(drain(here), ElementsAre("2"));
    EXPECT_THAT(drain(second, there), ElementsAre("2"));
}

TEST_F(SharedChannel, OfTwoDatabasesLagsInBoth)
{
    manual_database second(db_.path(), manual_database::quick(), db_.clock_to_share());
    listener here = listen();
    listener there = second.run(second.database().listen("orders"));
    notify_all(1, 3);
    second.run(second.database().prune_notifications({.keep = 1}));
    db_.clock().advance(1ms);
    EXPECT_THAT(drain(here), ElementsAre("lagged 1-2", "3"));
    EXPECT_THAT(drain(second, there), ElementsAre("lagged 1-2", "3"));
}

TEST_F(SharedChannel, InAFileWithoutTablesMakesThem)
{
    listener inbox = listen();
    EXPECT_EQ(additions(), "4");
    tell_in_sql("1");
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(SharedChannel, OfAnotherProgramGetsWhatIsMissing)
{
    bootstrap();
    tell_in_sql("1");
    EXPECT_EQ(additions(), "0");
    listener inbox = listen();
    EXPECT_EQ(additions(), "4");
    tell_in_sql("2");
    process_.sql("DELETE FROM _honker_notifications");
    tell_in_sql("3");
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 2-2", "3"));
}

TEST_F(SharedChannel, OfAnotherProgramGetsWhatIsMissingFromWhoTells)
{
    bootstrap();
    notify("1");
    EXPECT_EQ(additions(), "4");
}

TEST_F(SharedChannel, ThatIsCompleteIsListenedToWithoutAWrite)
{
    notify("1");
    db_.reopen();
    const statement_counter statements(db_.handle());
    listener inbox = listen();
    EXPECT_EQ(statements.count("BEGIN IMMEDIATE"), 0U);
    EXPECT_THAT(drain(inbox), IsEmpty());
}

TEST_F(SharedChannel, WithoutASchemaOfItsOwnFailsWhenThereAreNoTables)
{
    constexpr notification_options options{.create_schema = false};
    auto listening = db_.start(db_.database().listen("orders", options));
    auto telling = db_.start(db_.database().notify("orders", "1", options));
    auto pruning = db_.start(db_.database().prune_notifications({.keep = 1}, options));
    db_.settle();
    EXPECT_EQ(listening.error(), errc::storage_failure);
    EXPECT_EQ(telling.error(), errc::storage_failure);
    EXPECT_EQ(pruning.error(), errc::storage_failure);
    EXPECT_EQ(other_.value("SELECT count(*) FROM sqlite_schema"), "0");
}

TEST_F(SharedChannel, WithoutASchemaOfItsOwnWorksOnTheTablesOfAnotherProgram)
{
    bootstrap();
    constexpr notification_options options{.create_schema = false};
    listener inbox = listen_without_schema();
    auto wait = db_.start(inbox.next());
    db_.settle();
    db_.run(db_.database().notify("orders", "1", options));
    EXPECT_EQ(wait.result().payload, "1");
    tell_in_sql("2");
    tell_in_sql("3");
    EXPECT_EQ(db_.run(db_.database().prune_notifications({.keep = 1}, options)), 2U);
    EXPECT_THAT(drain(inbox), ElementsAre("3")) << "without our additions nobody is told of 2";
    EXPECT_EQ(additions(), "0");
}

TEST_F(SharedChannel, WithoutASchemaOfItsOwnTellsOfLagWhereOthersHaveMadeTheAdditions)
{
    for (const std::string& each : schema::notifications()) {
        other_.sql(each);
    }
    listener inbox = listen_without_schema();
    tell_in_sql("1");
    process_.sql("DELETE FROM _honker_notifications");
    db_.advance(1ms);
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-1"));
}

TEST_F(SharedChannel, IsHeardByTheOldAndTheNewWhenTheAdditionsAreMadeMeanwhile)
{
    bootstrap();
    listener old = listen_without_schema();
    auto wait = db_.start(old.next());
    db_.settle();
    listener inbox = listen();
    EXPECT_EQ(additions(), "4");
    notify("1");
    EXPECT_EQ(wait.result().payload, "1");
    notify_all(2, 3);
    prune({.keep = 1});
    EXPECT_THAT(drain(old), ElementsAre("lagged 2-2", "3"));
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-2", "3"));
}

} // namespace
