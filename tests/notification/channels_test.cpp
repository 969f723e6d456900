#include "notification/notification_fixture.hpp"

#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Channels : public support::notification_fixture {
protected:
    /// A thousand, each in a call that waits.
    void start_thousand(std::string_view channel = "orders")
    {
        for (int each = 0; each < 1000; ++each) {
            inboxes_.push_back(listen(channel));
            waits_.push_back(db_.start(inboxes_.back().next()));
        }
        db_.settle();
    }

    std::vector<listener> inboxes_;
    std::vector<operation<notification>> waits_;
};

TEST_F(Channels, BringTheirOwn)
{
    listener orders = listen();
    listener mails = listen("mails");
    listener empty = listen("");
    notify("1");
    notify("2", "mails");
    notify("3");
    notify("4", "");
    notify("5", "ORDERS");
    EXPECT_THAT(drain(orders), ElementsAre("1", "3"));
    EXPECT_THAT(drain(mails), ElementsAre("2"));
    EXPECT_THAT(drain(empty), ElementsAre("4"));
}

TEST_F(Channels, WhoseNamesBeginAlikeAreApart)
{
    // Texts that could end up equal if those of the lines were made without care.
    const std::vector<std::string> names{"a", "a@", "a@0", "1:a", "1:a@", "a@0/0/100", "ab"};
    std::vector<listener> inboxes;
    for (const std::string& each : names) {
        inboxes.push_back(listen(each));
        waits_.push_back(db_.start(inboxes.back().next()));
    }
    db_.settle();
    statement_counter statements(db_.handle());
    for (std::size_t each = 0; each < names.size(); ++each) {
        EXPECT_FALSE(waits_[each].is_done());
        statements.reset();
        notify(std::to_string(each), names[each]);
        EXPECT_EQ(statements.count("FROM _honker_notifications"), 1U) << "others have looked";
        ASSERT_TRUE(waits_[each].is_done());
        EXPECT_EQ(waits_[each].result().payload, std::to_string(each));
    }
}

TEST_F(Channels, AreNotTakenForOthersWhoseNameGoesOnWithThePlaceOfAListener)
{
    notify_all(1, 10, "x");
    listener at_ten = listen("x");
    listener at_none = listen("x1"); // "x" and 10, "x1" and 0
    auto first = db_.start(at_ten.next());
    auto second = db_.start(at_none.next());
    db_.settle();
    notify("1", "x1");
    EXPECT_FALSE(first.is_done());
    ASSERT_TRUE(second.is_done());
    notify("2", "x");
    EXPECT_EQ(first.result().payload, "2");
}

TEST_F(Channels, AreNotConcernedByAFloodInAnother)
{
    start_thousand();
    listener flooded = listen("flood");
    auto next = db_.start(flooded.next());
    db_.settle();
    const statement_counter statements(db_.handle());
    notify_all(1, 300, "flood");
    EXPECT_EQ(statements.count("FROM _honker_notifications"), 1U) << "the one who waits there";
    EXPECT_EQ(next.result().payload, "1");
    EXPECT_EQ(drain(flooded).size(), 299U);
    for (const auto& each : waits_) {
        ASSERT_FALSE(each.is_done());
    }
}

TEST_F(Channels, OfAThousandWhoWaitCostNoStatementWhileNothingHappens)
{
    start_thousand();
    const statement_counter statements(db_.handle());
    for (int each = 0; each < 1000; ++each) {
        db_.advance(1ms);
    }
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
}

TEST_F(Channels, OfAThousandWhoWaitCostNoStatementAlsoAfterNotificationsInOthers)
{
    start_thousand();
    notify_all(1, 10, "another");
    const statement_counter statements(db_.handle());
    for (int each = 0; each < 100; ++each) {
        db_.advance(1ms);
    }
    EXPECT_EQ(statements.count(), statements.count("PRAGMA data_version"));
}

TEST_F(Channels, CostOneLookForEachPlaceAfterACommitOfAnotherProcess)
{
    start_thousand();
    start_thousand("mails");
    other_.sql("CREATE TABLE t (v)");
    const statement_counter statements(db_.handle());
    db_.advance(1ms);
    EXPECT_EQ(statements.count("FROM _honker_notifications"), 2U);
    EXPECT_EQ(statements.count("BEGIN"), 0U);
}

TEST_F(Channels, CostNoLookForWorkOfOtherKinds)
{
    const skein::queue queue = db_.database().queue("q");
    db_.run(queue.enqueue("1"));
    start_thousand();
    const statement_counter statements(db_.handle());
    db_.run(queue.enqueue("2"));
    auto claimed = db_.run(queue.claim());
    EXPECT_TRUE(db_.run(claimed.ack()));
    EXPECT_EQ(statements.count("_honker_notifications"), 0U);
}

TEST_F(Channels, BringManyOfOneCommitToEachListener)
{
    start_thousand();
    auto work = [&](transaction& tx) {
        for (int each = 0; each < 250; ++each) {
            db_.database().notify(tx, "orders", std::to_string(each));
            db_.database().notify(tx, "mails", "null");
        }
    };
    db_.run(db_.database().transaction(work));
    for (std::size_t each = 0; each < inboxes_.size(); ++each) {
        ASSERT_TRUE(waits_[each].is_done());
        ASSERT_EQ(waits_[each].result().payload, "0");
    }
    for (const std::size_t each : {std::size_t{0}, std::size_t{999}}) {
        const std::vector<std::string> rest = drain(inboxes_[each]);
        ASSERT_EQ(rest.size(), 249U);
        EXPECT_EQ(rest.front(), "1");
        EXPECT_EQ(rest.back(), "249");
    }
}

TEST_F(Channels, NeedNoListener)
{
    EXPECT_EQ(notify("1"), 1);
    EXPECT_EQ(notify("2", "mails"), 2);
    EXPECT_THAT(other_.sql("SELECT id, channel, payload, created_at FROM _honker_notifications"),
                ElementsAre("1|orders|1|100", "2|mails|2|100"));
    listener inbox = listen();
    EXPECT_THAT(drain(inbox), IsEmpty());
}

} // namespace
