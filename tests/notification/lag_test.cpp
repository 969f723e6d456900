#include "notification/notification_fixture.hpp"
#include "support/other_process.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Lag : public support::notification_fixture {
protected:
    /// Removes as another program would, and lets it be noticed.
    void remove(std::string_view which)
    {
        other_.sql("DELETE FROM _honker_notifications WHERE " + std::string(which));
        db_.advance(1ms);
    }
};

TEST_F(Lag, TellsWhichAreMissingAndGoesOnWithWhatIsThere)
{
    listener inbox = listen();
    notify_all(1, 5);
    EXPECT_EQ(prune({.keep = 2}), 3U);
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-3", "4", "5"));
}

TEST_F(Lag, IsAFailureOfItsOwnKind)
{
    listener inbox = listen();
    notify_all(1, 2);
    prune({.keep = 0});
    try {
        db_.run(inbox.next());
        ADD_FAILURE() << "not told";
    } catch (const lagged& told) {
        EXPECT_EQ(told.code(), errc::lagged);
        EXPECT_EQ(told.first(), 1);
        EXPECT_EQ(told.last(), 2);
        EXPECT_THAT(told.what(), ::testing::HasSubstr("orders"));
    }
}

TEST_F(Lag, IsOfWhatWasNotReadYet)
{
    listener inbox = listen();
    notify_all(1, 4);
    EXPECT_EQ(drain(inbox).size(), 4U);
    notify_all(5, 8);
    prune({.keep = 2});
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 5-6", "7", "8"));
}

TEST_F(Lag, IsNotOfWhatWasRead)
{
    listener inbox = listen();
    notify_all(1, 4);
    EXPECT_EQ(drain(inbox).size(), 4U);
    prune({.keep = 0});
    EXPECT_THAT(drain(inbox), IsEmpty());
    notify("5");
    EXPECT_THAT(drain(inbox), ElementsAre("5"));
}

TEST_F(Lag, IsNotOfWhatWaitsInMemory)
{
    listener inbox = listen();
    notify_all(1, 3);
    EXPECT_EQ(db_.run(inbox.next()).payload, "1");
    prune({.keep = 0});
    EXPECT_THAT(drain(inbox), ElementsAre("2", "3"));
}

TEST_F(Lag, IsNotOfWhatWasRemovedBefore)
{
    notify_all(1, 4);
    listener before = listen();
    prune({.keep = 0});
    listener after = listen();
    EXPECT_THAT(drain(before), IsEmpty());
    EXPECT_THAT(drain(after), IsEmpty());
    notify("5");
    EXPECT_THAT(drain(before), ElementsAre("5"));
    EXPECT_THAT(drain(after), ElementsAre("5"));
}

TEST_F(Lag, IsToldOnce)
{
    listener inbox = listen();
    notify_all(1, 3);
    prune({.keep = 0});
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-3"));
    EXPECT_THAT(drain(inbox), IsEmpty());
    notify("4");
    EXPECT_THAT(drain(inbox), ElementsAre("4"));
}

TEST_F(Lag, IsToldAgainOfWhatIsRemovedLater)
{
    listener inbox = listen();
    notify_all(1, 3);
    prune({.keep = 0});
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-3"));
    notify_all(4, 6);
    prune({.keep = 1});
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 4-5", "6"));
}

TEST_F(Lag, IsNotOfOtherChannels)
{
    listener inbox = listen();
    notify_all(1, 3, "mails");
    notify("4");
    prune({.keep = 1});
    EXPECT_THAT(drain(inbox), ElementsAre("4"));
}

TEST_F(Lag, TellsARangeInWhichOtherChannelsHaveNumbersToo)
{
    listener inbox = listen();
    notify("1");          // 1
    notify("2", "mails"); // 2
    notify("3");          // 3
    notify("4", "mails"); // 4
    notify("5");          // 5
    prune({.keep = 1});
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-3", "5"));
}

TEST_F(Lag, OfSomeInTheMiddleBringsThoseAroundThem)
{
    listener inbox = listen();
    notify_all(1, 6);
    remove("id IN (3, 5)");
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-5", "1", "2", "4", "6"));
}

TEST_F(Lag, BehindTheFirstPageIsToldOnceAndBeforeIt)
{
    listener inbox = listen();
    notify_all(1, 250);
    remove("id = 150");
    const std::vector<std::string> all = drain(inbox);
    ASSERT_EQ(all.size(), 250U);
    EXPECT_EQ(all[0], "lagged 1-150");
    EXPECT_EQ(all[1], "1");
    EXPECT_EQ(all[149], "149");
    EXPECT_EQ(all[150], "151");
}

TEST_F(Lag, OfMoreWhileTheFirstPageIsTakenIsTold)
{
    listener inbox = listen();
    notify_all(1, 150);
    EXPECT_EQ(db_.run(inbox.next()).payload, "1");
    remove("id <= 120");
    const std::vector<std::string> all = drain(inbox);
    ASSERT_EQ(all.size(), 99U + 1U + 30U);
    EXPECT_EQ(all[98], "100");
    EXPECT_EQ(all[99], "lagged 101-120");
    EXPECT_EQ(all[100], "121");
}

TEST_F(Lag, WakesWhoWaits)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    // Made and removed by others between two looks.
    other_.sql("BEGIN; INSERT INTO _honker_notifications (channel, payload) VALUES ('orders', '1');"
               " DELETE FROM _honker_notifications; COMMIT");
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.error(), errc::lagged);
    EXPECT_THAT(drain(inbox), IsEmpty());
}

TEST_F(Lag, IsToldToEachListenerOfItsOwn)
{
    listener first = listen();
    notify_all(1, 2);
    listener second = listen();
    notify_all(3, 4);
    listener third = listen();
    notify_all(5, 6);
    prune({.keep = 1});
    EXPECT_THAT(drain(first), ElementsAre("lagged 1-5", "6"));
    EXPECT_THAT(drain(second), ElementsAre("lagged 3-5", "6"));
    EXPECT_THAT(drain(third), ElementsAre("lagged 5-5", "6"));
}

TEST_F(Lag, IsToldToAllWhoWaitAtOnePlace)
{
    std::vector<listener> inboxes;
    std::vector<support::operation<notification>> waits;
    for (int each = 0; each < 10; ++each) {
        inboxes.push_back(listen());
        waits.push_back(db_.start(inboxes.back().next()));
    }
    db_.settle();
    auto work = [&](transaction& tx) {
        db_.database().notify(tx, "orders", "1");
        db_.database().notify(tx, "orders", "2");
        tx.database().exec("DELETE FROM _honker_notifications WHERE id = 1");
    };
    db_.run(db_.database().transaction(work));
    for (std::size_t each = 0; each < waits.size(); ++each) {
        EXPECT_EQ(waits[each].error(), errc::lagged);
        EXPECT_THAT(drain(inboxes[each]), ElementsAre("2"));
    }
}

TEST_F(Lag, IsNotToldWhenTheRemovalIsRolledBack)
{
    listener inbox = listen();
    notify_all(1, 2);
    other_.sql("BEGIN; DELETE FROM _honker_notifications; ROLLBACK");
    db_.advance(1ms);
    EXPECT_THAT(drain(inbox), ElementsAre("1", "2"));
}

TEST_F(Lag, IsToldWhenAnotherProcessRemoves)
{
    support::other_process process(db_.path());
    listener inbox = listen();
    notify_all(1, 4);
    process.sql("DELETE FROM _honker_notifications WHERE id <= 3");
    db_.advance(1ms);
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-3", "4"));
}

TEST_F(Lag, IsToldWhenAnotherProgramMovesOneToAnotherChannel)
{
    listener inbox = listen();
    listener mails = listen("mails");
    notify_all(1, 2);
    other_.sql("UPDATE _honker_notifications SET channel = 'mails' WHERE id = 1");
    db_.advance(1ms);
    EXPECT_THAT(drain(inbox), ElementsAre("lagged 1-1", "2"));
    EXPECT_THAT(drain(mails), ElementsAre("1"));
}

TEST_F(Lag, OfTriesAndOfWaitsWithALimitIsTheSame)
{
    listener first = listen();
    listener second = listen();
    notify("1");
    prune({.keep = 0});
    auto attempt = db_.start(first.try_next());
    auto wait = db_.start(second.next_within(5s));
    db_.settle();
    EXPECT_EQ(attempt.error(), errc::lagged);
    EXPECT_EQ(wait.error(), errc::lagged);
}

} // namespace
