#include "queue/queue_fixture.hpp"

#include <chrono>

namespace {

using namespace skein;
using namespace std::chrono_literals;

class Changing : public support::queue_fixture {
protected:
    std::string row(std::int64_t id)
    {
        return value("SELECT payload || ' ' || priority || ' ' || run_at || ' ' || state FROM"
                     " _honker_live WHERE id = " +
                     std::to_string(id));
    }
};

TEST_F(Changing, WhatIsAbsentStays)
{
    const std::int64_t id = enqueue("1", {.delay = 10s, .priority = 3});

    EXPECT_TRUE(db_.run(queue_.change(id, {.payload = "2"})));
    EXPECT_EQ(row(id), "2 3 110 scheduled");
    EXPECT_TRUE(db_.run(queue_.change(id, {.priority = 7})));
    EXPECT_EQ(row(id), "2 7 110 scheduled");
    EXPECT_TRUE(db_.run(queue_.change(id, {.delay = 20s})));
    EXPECT_EQ(row(id), "2 7 120 scheduled");
    EXPECT_TRUE(db_.run(queue_.change(id, {.run_at = clock::wall_time{90s}})));
    EXPECT_EQ(row(id), "2 7 90 pending");
    EXPECT_TRUE(db_.run(queue_.change(id, {})));
    EXPECT_EQ(row(id), "2 7 90 pending");
}

TEST_F(Changing, AWaitingClaimIsWoken)
{
    const std::int64_t id = enqueue("1", {.delay = 1h});
    auto waiting = db_.start(queue_.claim());
    db_.settle();
    EXPECT_FALSE(waiting.is_done());

    EXPECT_TRUE(db_.run(queue_.change(id, {.delay = 0s})));
    EXPECT_TRUE(waiting.is_done());
}

TEST_F(Changing, JobsThatAreClaimedGoneOrOfAnotherQueueStayAsTheyAre)
{
    const std::int64_t id = enqueue("1");
    const job running = claim();
    EXPECT_FALSE(db_.run(queue_.change(id, {.payload = "2"})));
    EXPECT_FALSE(db_.run(queue_.change(99, {.payload = "2"})));
    skein::queue other = db_.database().queue("other");
    const std::int64_t theirs = db_.run(other.enqueue("1"));
    EXPECT_FALSE(db_.run(queue_.change(theirs, {.payload = "2"})));

    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,1");
}

TEST_F(Changing, BadChangesAreRefused)
{
    const std::int64_t id = enqueue("1");
    const auto code_of = [&](const job_change& wanted) {
        try {
            db_.run(queue_.change(id, wanted));
        } catch (const error& refused) {
            return refused.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(code_of({.payload = "{"}), errc::invalid_payload);
    EXPECT_EQ(code_of({.delay = 1s, .run_at = clock::wall_time{1s}}), errc::invalid_argument);
}

TEST_F(Changing, InsideATransaction)
{
    const std::int64_t id = enqueue("1");
    const auto change_and_fail = [&](transaction& tx) {
        EXPECT_TRUE(queue_.change(tx, id, {.payload = "2"}));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(change_and_fail)), std::runtime_error);
    EXPECT_EQ(row(id), "1 0 100 pending");
}

TEST_F(Changing, AJobOfAPausedQueueIsChangedAndStaysHeld)
{
    const std::int64_t id = enqueue("1");
    EXPECT_TRUE(db_.run(queue_.pause()));

    EXPECT_TRUE(db_.run(queue_.change(id, {.payload = "2", .priority = 5, .delay = 10s})));
    const std::optional<job_info> info = db_.run(queue_.find(id));
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->is_held);
    EXPECT_EQ(info->run_at, clock::wall_time{110s});
    EXPECT_FALSE(db_.run(queue_.try_claim()));

    EXPECT_TRUE(db_.run(queue_.resume()));
    EXPECT_EQ(row(id), "2 5 110 scheduled");
}

TEST_F(Changing, AJobThatIsHeldByItsKeyOvertakesByItsPriority)
{
    const enqueue_options limited{.concurrency = {.key = "k", .limit = 1}};
    enqueue("1", limited);
    const std::int64_t second = enqueue("2", limited);

    EXPECT_TRUE(db_.run(queue_.change(second, {.priority = 5})));

    EXPECT_EQ(claim().payload(), "2");
}

} // namespace
