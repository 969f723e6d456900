#include "notification/notification_fixture.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::operation;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Listening : public support::notification_fixture {};

TEST_F(Listening, BringsWhatIsCommittedAfterIt)
{
    notify("0");
    listener inbox = listen();
    const std::int64_t id = notify(R"({"order": 7})");
    const notification note = db_.run(inbox.next());
    EXPECT_EQ(note.id, id);
    EXPECT_EQ(note.payload, R"({"order": 7})");
    EXPECT_EQ(note.created_at.time_since_epoch(), 100s);
    EXPECT_FALSE(db_.run(inbox.try_next()));
}

TEST_F(Listening, ResumesWhoWaits)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    EXPECT_FALSE(wait.is_done());
    notify("1");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "1");
}

TEST_F(Listening, KeepsTheOrder)
{
    listener inbox = listen();
    for (int i = 0; i < 250; ++i) {
        notify(std::to_string(i));
    }
    const std::vector<std::string> all = drain(inbox);
    ASSERT_EQ(all.size(), 250U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], std::to_string(i));
    }
}

TEST_F(Listening, OneQueryServesAThousandListeners)
{
    std::vector<listener> inboxes;
    std::vector<operation<notification>> waits;
    for (int i = 0; i < 1000; ++i) {
        inboxes.push_back(listen());
        waits.push_back(db_.start(inboxes.back().next()));
    }
    db_.settle();
    const statement_counter counter(db_.handle());
    db_.advance(10s);
    notify("1");
    for (auto& each : waits) {
        ASSERT_TRUE(each.is_done());
        EXPECT_EQ(each.result().payload, "1");
    }
    EXPECT_EQ(counter.count("FROM _honker_notifications"), 1U);
}

TEST_F(Listening, BringsWhatIsThereWhateverTheFormOfTheCall)
{
    listener inbox = listen();
    notify_all(1, 3);
    EXPECT_EQ(db_.run(inbox.next()).payload, "1");
    EXPECT_EQ(db_.run(inbox.next_within(5s))->payload, "2");
    EXPECT_EQ(db_.run(inbox.try_next())->payload, "3");
    EXPECT_FALSE(db_.run(inbox.try_next()));
}

TEST_F(Listening, WithALimitEndsWithNothing)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next_within(5s));
    db_.settle();
    db_.advance(4999ms);
    EXPECT_FALSE(wait.is_done());
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    EXPECT_FALSE(wait.result());
    EXPECT_EQ(db_.clock().alarms(), 0U) << "something is left behind";
    notify("1");
    EXPECT_THAT(drain(inbox), ElementsAre("1"));
}

TEST_F(Listening, WithALimitBringsWhatComesInTime)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next_within(5s));
    db_.settle();
    db_.advance(4999ms);
    notify("1");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result()->payload, "1");
}

TEST_F(Listening, WithoutALimitToSpeakOfIsATry)
{
    listener inbox = listen();
    for (const auto limit : {duration(0), duration(-1), duration(-1e300)}) {
        EXPECT_FALSE(db_.run(inbox.next_within(limit)));
    }
    auto longest = db_.start(inbox.next_within(duration::max()));
    db_.settle();
    db_.advance(24h * 365);
    EXPECT_FALSE(longest.is_done());
    notify("1");
    EXPECT_EQ(longest.result()->payload, "1");
}

TEST_F(Listening, IsOfItsOwnPace)
{
    listener fast = listen();
    listener slow = listen();
    notify_all(1, 3);
    EXPECT_THAT(drain(fast), ElementsAre("1", "2", "3"));
    EXPECT_EQ(db_.run(slow.next()).payload, "1");
    notify_all(4, 5);
    listener late = listen();
    EXPECT_THAT(drain(fast), ElementsAre("4", "5"));
    EXPECT_THAT(drain(slow), ElementsAre("2", "3", "4", "5"));
    EXPECT_THAT(drain(late), IsEmpty());
}

TEST_F(Listening, KnowsItsChannel)
{
    std::string name("or\0ders", 7);
    const listener inbox = listen(name);
    name = "other";
    EXPECT_EQ(inbox.channel(), std::string_view("or\0ders", 7));
}

TEST_F(Listening, TakesOneCallAtATimeAndHarmsNotTheFirst)
{
    listener inbox = listen();
    auto first = db_.start(inbox.next());
    db_.settle();
    auto second = db_.start(inbox.next());
    auto third = db_.start(inbox.try_next());
    db_.settle();
    EXPECT_EQ(second.error(), errc::invalid_argument);
    EXPECT_EQ(third.error(), errc::invalid_argument);
    EXPECT_FALSE(first.is_done());
    notify_all(1, 2);
    EXPECT_EQ(first.result().payload, "1");
    EXPECT_THAT(drain(inbox), ElementsAre("2"));
}

TEST_F(Listening, ThatIsMovedWhileItWaitsGoesOn)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    listener moved = std::move(inbox);
    notify_all(1, 2);
    EXPECT_EQ(wait.result().payload, "1");
    EXPECT_THAT(drain(moved), ElementsAre("2"));
    inbox = listen("another");
    EXPECT_EQ(inbox.channel(), "another");
}

TEST_F(Listening, ThatIsDroppedWhileItWaitsGoesOnToTheEndOfTheCall)
{
    std::optional<listener> inbox = listen();
    auto wait = db_.start(inbox->next());
    db_.settle();
    inbox.reset();
    db_.advance(1s);
    notify("1");
    ASSERT_TRUE(wait.is_done());
    EXPECT_EQ(wait.result().payload, "1");
}

TEST_F(Listening, EndsWhenTheDatabaseIsClosed)
{
    listener inbox = listen();
    listener other = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    db_.run(db_.database().close());
    EXPECT_EQ(wait.error(), errc::closed);
    auto late = db_.start(other.next());
    auto attempt = db_.start(inbox.try_next());
    auto tell = db_.start(db_.database().notify("orders", "1"));
    auto listen = db_.start(db_.database().listen("orders"));
    auto prune = db_.start(db_.database().prune_notifications({.keep = 1}));
    db_.settle();
    EXPECT_EQ(late.error(), errc::closed);
    EXPECT_EQ(attempt.error(), errc::closed);
    EXPECT_EQ(tell.error(), errc::closed);
    EXPECT_EQ(listen.error(), errc::closed);
    EXPECT_EQ(prune.error(), errc::closed);
}

TEST_F(Listening, BringsWhatWasReadBeforeTheDatabaseWasClosed)
{
    listener inbox = listen();
    notify_all(1, 3);
    EXPECT_EQ(db_.run(inbox.next()).payload, "1");
    db_.run(db_.database().close());
    EXPECT_EQ(db_.run(inbox.next()).payload, "2");
    EXPECT_EQ(db_.run(inbox.next()).payload, "3");
    auto end = db_.start(inbox.next());
    db_.settle();
    EXPECT_EQ(end.error(), errc::closed);
}

TEST_F(Listening, EndsWhenTheLastHandleOfTheDatabaseIsGone)
{
    listener inbox = listen();
    auto wait = db_.start(inbox.next());
    db_.settle();
    db_.drop_database();
    EXPECT_EQ(wait.error(), errc::closed);
}

TEST_F(Listening, BringsLongPayloadsInSeveralReads)
{
    listener inbox = listen();
    const std::string large = '"' + std::string(700'000, 'x') + '"';
    for (int each = 0; each < 5; ++each) {
        notify(large);
    }
    notify("1");
    EXPECT_THAT(drain(inbox), ElementsAre(large, large, large, large, large, "1"));
}

} // namespace
