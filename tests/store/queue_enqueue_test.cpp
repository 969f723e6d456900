#include "store/error.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t now = 1000;
constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

class QueueEnqueue : public testing::Test {
protected:
    /// State and due time of a job that is made with these.
    std::string due(std::optional<std::int64_t> run_at, std::optional<std::int64_t> delay)
    {
        return client_.live(
            client_.enqueue({.queue = "q", .payload = "1", .run_at = run_at, .delay = delay}, now),
            "state, run_at");
    }

    std::string expiry(std::optional<std::int64_t> expires_in)
    {
        return client_.live(
            client_.enqueue({.queue = "q", .payload = "1", .expires_in = expires_in}, now),
            "expires_at");
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
};

TEST_F(QueueEnqueue, WritesEveryColumn)
{
    const std::int64_t id = client_.enqueue({.queue = "mail",
                                             .payload = "{\"to\": \"alice\"}",
                                             .delay = 5,
                                             .priority = -7,
                                             .max_attempts = 9,
                                             .expires_in = 60},
                                            now);
    EXPECT_EQ(client_.live(id, "queue, payload, state, priority, run_at, worker_id,"
                               " claim_expires_at, attempts, max_attempts, created_at, expires_at,"
                               " claimed_at"),
              "mail|{\"to\": \"alice\"}|scheduled|-7|1005|NULL|NULL|0|9|1000|1060|NULL");
}

TEST_F(QueueEnqueue, HasTheDefaultsOfTheFormat)
{
    EXPECT_EQ(client_.live(client_.enqueue("null", now),
                           "state, priority, run_at, attempts, max_attempts, expires_at"),
              "pending|0|1000|0|3|NULL");
}

TEST_F(QueueEnqueue, CountsUp)
{
    EXPECT_EQ(client_.enqueue("1", now), 1);
    EXPECT_EQ(client_.enqueue("2", now), 2);
}

TEST_F(QueueEnqueue, TellsTheJobsNumberAlsoWhereATriggerInsertsSomethingElse)
{
    client_.file().sql("CREATE TABLE log (id INTEGER PRIMARY KEY);"
                       "CREATE TRIGGER t AFTER INSERT ON _honker_live"
                       " BEGIN INSERT INTO log VALUES (NEW.id + 1000); END");
    EXPECT_EQ(client_.enqueue("1", now), 1);
}

TEST_F(QueueEnqueue, TakesATimeOrADelayAndTheDelayWins)
{
    EXPECT_EQ(due({}, {}), "pending|1000");
    EXPECT_EQ(due(1001, {}), "scheduled|1001");
    EXPECT_EQ(due(1000, {}), "pending|1000");
    EXPECT_EQ(due(5, {}), "pending|5");
    EXPECT_EQ(due({}, 1), "scheduled|1001");
    EXPECT_EQ(due({}, 0), "pending|1000");
    EXPECT_EQ(due({}, -10), "pending|990");
    EXPECT_EQ(due(5000, 2), "scheduled|1002");
}

TEST_F(QueueEnqueue, ADelayThatLeavesTheRangeOfTimeStopsAtItsEnd)
{
    EXPECT_EQ(due({}, for_ever), "scheduled|9223372036854775807");
    EXPECT_EQ(due({}, never), "pending|-9223372036854774808");
    EXPECT_EQ(expiry(for_ever), "9223372036854775807");
}

TEST_F(QueueEnqueue, ExpiresAfterSoManySecondsFromNow)
{
    EXPECT_EQ(expiry(60), "1060");
    EXPECT_EQ(expiry(0), "1000");
    EXPECT_EQ(expiry(-5), "995");
    EXPECT_EQ(expiry({}), "NULL");
}

TEST_F(QueueEnqueue, StoresThePayloadByteForByte)
{
    const std::string payload = " {\"b\":1,  \"a\":1.0, \"u\":\"\\u00fc \xC3\xBC\", \"a\":2}\n";
    client_.enqueue(payload, now);
    EXPECT_EQ(client_.claim(now).value().payload, payload);
}

TEST_F(QueueEnqueue, TakesAnyTextAsTheNameOfAQueue)
{
    using namespace std::string_literals;
    for (const std::string& each : {""s, "a'b\"%_"s, "a\0b"s, std::string(10'000, 'x')}) {
        const std::int64_t id = client_.enqueue({.queue = each, .payload = "1"}, now);
        job_claimer claimer(client_.connection());
        const auto claimed = client_.write([&] { return claimer.claim({each, "w", 30}, 1, now); });
        ASSERT_EQ(claimed.size(), 1U);
        EXPECT_EQ(claimed[0].fence.id, id);
    }
}

TEST_F(QueueEnqueue, RefusesAJobThatCouldNeverRun)
{
    for (const std::int64_t each : {std::int64_t{0}, std::int64_t{-1}, never}) {
        try {
            client_.enqueue({.queue = "q", .payload = "1", .max_attempts = each}, now);
            FAIL() << each;
        } catch (const invalid_argument& refusal) {
            EXPECT_THAT(refusal.what(),
                        HasSubstr("max_attempts must be at least 1, got " + std::to_string(each)));
        }
    }
    EXPECT_EQ(client_.file().value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(QueueEnqueue, RefusesAPayloadThatIsNoJson)
{
    EXPECT_THROW(client_.enqueue("not json", now), invalid_payload);
    EXPECT_THROW(client_.enqueue("", now), invalid_payload);
    EXPECT_EQ(client_.file().value("SELECT count(*) FROM _honker_live"), "0");
}

} // namespace
