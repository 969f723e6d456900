#include "schedule/schedule_fixture.hpp"

#include <SQLiteCpp/Database.h>

#include <stdexcept>

namespace {

using namespace skein;
using support::at;
using support::refusal_of;
using ::testing::HasSubstr;

class SchedulesInATransaction : public support::schedule_fixture {
protected:
    template <class Work>
    void transact(const Work& work)
    {
        const auto wrapped = [&](transaction& tx) { work(tx); };
        db_.run(db_.database().transaction(wrapped));
    }
};

TEST_F(SchedulesInATransaction, AreChangedWithIt)
{
    transact([&](transaction& tx) {
        scheduler_.add(tx, "s", "q", "@every 10s", "null");
        EXPECT_TRUE(scheduler_.update(tx, "s", {.payload = "1"}));
        EXPECT_TRUE(scheduler_.pause(tx, "s"));
        EXPECT_TRUE(scheduler_.resume(tx, "s"));
        scheduler_.add(tx, "t", "q", "@daily", "null");
        EXPECT_TRUE(scheduler_.remove(tx, "t"));
    });
    EXPECT_EQ(find("s").payload, "1");
    EXPECT_FALSE(db_.run(scheduler_.find("t")));
}

TEST_F(SchedulesInATransaction, AreAsBeforeWhenItIsRolledBack)
{
    add("s", "@every 10s");
    const auto undone = [&](transaction& tx) {
        scheduler_.add(tx, "t", "q", "@daily", "null");
        scheduler_.remove(tx, "s");
        throw std::runtime_error("undo");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(undone)), std::runtime_error);
    EXPECT_EQ(db_.run(scheduler_.list()).size(), 1U);
    EXPECT_EQ(find("s").next_at, at(110));
}

TEST_F(SchedulesInATransaction, AreAsBeforeWhenOnlyTheCallIsRefused)
{
    add("s", "@every 10s");
    transact([&](transaction& tx) {
        const std::string text = refusal_of(
            [&] { scheduler_.add(tx, "s", "q", "CRON_TZ=Middle/Earth @daily", "null"); });
        EXPECT_THAT(text, HasSubstr("Middle/Earth"));
    });
    EXPECT_EQ(find("s").expression, "@every 10s");
}

TEST_F(SchedulesInATransaction, WakeTheScheduler)
{
    const auto running = run();
    transact([&](transaction& tx) { scheduler_.add(tx, "s", "q", "@every 10s", "null"); });
    db_.advance(std::chrono::seconds{10});
    EXPECT_EQ(jobs(), 1);
}

TEST_F(SchedulesInATransaction, AreOfTheSameDatabase)
{
    support::manual_database another;
    const scheduler there = another.database().scheduler();
    transact([&](transaction& tx) {
        EXPECT_THAT(refusal_of([&] { there.remove(tx, "s"); }), HasSubstr("tx:"));
        EXPECT_THAT(refusal_of([&] { there.add(tx, "s", "q", "@daily", "null"); }),
                    HasSubstr("tx:"));
    });
}

} // namespace
