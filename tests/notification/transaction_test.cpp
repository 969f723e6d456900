#include "notification/notification_fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NotificationInATransaction : public support::notification_fixture {
protected:
    void tell(transaction& tx, std::string_view payload)
    {
        numbers_.push_back(db_.database().notify(tx, "orders", payload));
    }

    std::vector<std::int64_t> numbers_;
};

TEST_F(NotificationInATransaction, ComesWithItsCommit)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto work = [&](transaction& tx) {
        tx.database().exec("CREATE TABLE mine (v)");
        tell(tx, "1");
        tell(tx, "2");
    };
    db_.run(db_.database().transaction(work));
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().id, numbers_[0]);
    EXPECT_THAT(drain(inbox), ElementsAre("2"));
}

TEST_F(NotificationInATransaction, IsNotToldOfWhenItIsRolledBack)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto work = [&](transaction& tx) {
        tell(tx, "1");
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_FALSE(wait.is_done());
    EXPECT_EQ(other_.value("SELECT count(*) FROM _honker_notifications"), "0");
    notify("2");
    EXPECT_EQ(wait.result().payload, "2");
}

TEST_F(NotificationInATransaction, IsNotToldOfWhenItsSavepointIsRolledBack)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto work = [&](transaction& tx) {
        tell(tx, "1");
        tx.database().exec("SAVEPOINT mine");
        tell(tx, "2");
        tx.database().exec("ROLLBACK TO mine");
        tx.database().exec("RELEASE mine");
        tell(tx, "3");
    };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(wait.result().payload, "1");
    EXPECT_THAT(drain(inbox), ElementsAre("3"));
}

TEST_F(NotificationInATransaction, WhoseSavepointWasAllOfItIsNotToldOf)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto work = [&](transaction& tx) {
        tx.database().exec("SAVEPOINT mine");
        tell(tx, "1");
        tx.database().exec("ROLLBACK TO mine");
        tx.database().exec("RELEASE mine");
    };
    db_.run(db_.database().transaction(work));
    EXPECT_FALSE(wait.is_done());
    notify("2");
    EXPECT_EQ(wait.result().payload, "2");
}

TEST_F(NotificationInATransaction, ThatMakesTheTablesIsUndoneWithThem)
{
    auto work = [&](transaction& tx) {
        tell(tx, "1");
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_EQ(other_.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%notif%'"), "0");
    listener inbox = listen();
    notify("2");
    EXPECT_THAT(drain(inbox), ElementsAre("2"));
}

TEST_F(NotificationInATransaction, ThatMakesTheTablesInASavepointThatIsRolledBackHarmsNobody)
{
    auto work = [&](transaction& tx) {
        tx.database().exec("SAVEPOINT mine");
        tell(tx, "1");
        tx.database().exec("ROLLBACK TO mine");
        tx.database().exec("RELEASE mine");
    };
    db_.run(db_.database().transaction(work));
    listener inbox = listen();
    EXPECT_THAT(drain(inbox), IsEmpty());
    notify("2");
    EXPECT_THAT(drain(inbox), ElementsAre("2"));
}

TEST_F(NotificationInATransaction, OfTheUsersOwnSqlComesToo)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    auto work = [&](transaction& tx) {
        tx.database().exec("INSERT INTO _honker_notifications (channel, payload)"
                           " VALUES ('orders', '7')");
    };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(wait.result().payload, "7");
}

TEST_F(NotificationInATransaction, OfAnotherDatabaseIsRefused)
{
    support::manual_database second;
    auto work = [&](transaction& tx) { tell(tx, "1"); };
    try {
        second.run(second.database().transaction(work));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
    }
}

TEST_F(NotificationInATransaction, ComesInTheOrderOfTheCommits)
{
    listener inbox = listen();
    auto first = [&](transaction& tx) {
        tell(tx, "1");
        tell(tx, "2");
    };
    auto in_a_transaction = db_.start(db_.database().transaction(first));
    auto alone = db_.start(db_.database().notify("orders", "3"));
    auto second = db_.start(db_.database().transaction(first));
    db_.settle();
    EXPECT_THAT(drain(inbox), ElementsAre("1", "2", "3", "1", "2"));
    EXPECT_TRUE(std::is_sorted(numbers_.begin(), numbers_.end()));
}

} // namespace
