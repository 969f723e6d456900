#include "store/queue/job_results.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace {

using namespace skein::store;
using testing::ElementsAre;

constexpr std::int64_t now = 1000;
constexpr std::int64_t all = -1;

class JobResults : public testing::Test {
protected:
    void save(std::int64_t job, std::string_view value, std::int64_t ttl, std::int64_t time = now)
    {
        client_.write([&] {
            results_.save(job, value, ttl, time);
            return true;
        });
    }

    std::string get(std::int64_t job, std::int64_t time = now)
    {
        return results_.get(job, time).value_or("none");
    }

    [[nodiscard]] std::vector<std::string> left() const
    {
        return client_.file().sql("SELECT job_id FROM _honker_results ORDER BY job_id");
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
    job_results results_{client_.connection()};
};

TEST_F(JobResults, AreKeptByteForByte)
{
    save(7, " {\"ok\":  true}\n", 60);
    EXPECT_EQ(get(7), " {\"ok\":  true}\n");
    EXPECT_EQ(get(8), "none");
}

TEST_F(JobResults, AreThereUntilTheirTimeIsOver)
{
    save(7, "1", 60);
    EXPECT_EQ(get(7, now + 59), "1");
    EXPECT_EQ(get(7, now + 60), "none");
    EXPECT_THAT(left(), ElementsAre("7"));
}

TEST_F(JobResults, StayWhereNoTimeIsGiven)
{
    save(1, "1", 0);
    save(2, "2", -5);
    save(3, "3", std::numeric_limits<std::int64_t>::max());
    constexpr std::int64_t late = 1'000'000'000'000;
    EXPECT_EQ(get(1, late) + get(2, late) + get(3, late), "123");
    EXPECT_THAT(client_.file().sql("SELECT expires_at FROM _honker_results ORDER BY job_id"),
                ElementsAre("NULL", "NULL", "9223372036854775807"));
}

TEST_F(JobResults, TakeThePlaceOfEarlierOnesAndKeepTheirFirstTime)
{
    save(7, "1", 60);
    save(7, "2", 0, now + 10);
    EXPECT_EQ(client_.file().value("SELECT value, created_at, expires_at FROM _honker_results"),
              "2|1000|NULL");
}

TEST_F(JobResults, OfAnotherProgramMayBeNull)
{
    client_.file().sql("INSERT INTO _honker_results (job_id) VALUES (7)");
    EXPECT_EQ(get(7), "none");
}

TEST_F(JobResults, AreSweptWhenTheirTimeIsOver)
{
    save(1, "1", 10);
    save(2, "2", 20);
    save(3, "3", 15);
    save(4, "4", 0);
    const auto sweep = [&](std::int64_t most, std::int64_t time) {
        return client_.write([&] { return results_.sweep(most, time); });
    };
    EXPECT_EQ(sweep(all, now + 9), 0);
    EXPECT_EQ(sweep(1, now + 15), 1);
    EXPECT_THAT(left(), ElementsAre("2", "3", "4"));
    EXPECT_EQ(sweep(all, now + 20), 2);
    EXPECT_THAT(left(), ElementsAre("4"));
}

TEST_F(JobResults, ArePurgedByAgeInSlices)
{
    for (int each = 0; each < 5; ++each) {
        save(each, "1", 0, now + each);
    }
    const auto purge = [&](std::int64_t before, std::int64_t most) {
        return client_.write([&] { return results_.purge(before, most); });
    };
    EXPECT_EQ(purge(now + 3, 2), 2);
    EXPECT_EQ(purge(now + 3, 2), 1);
    EXPECT_EQ(purge(now + 3, 2), 0);
    EXPECT_THAT(left(), ElementsAre("3", "4"));
}

TEST_F(JobResults, AreKeptUpToANumber)
{
    for (int each = 0; each < 10; ++each) {
        save(each, "1", 0, now - each / 2);
    }
    const auto keep = [&](std::int64_t kept, std::int64_t most) {
        return client_.write([&] { return results_.keep_newest(kept, most); });
    };
    EXPECT_EQ(keep(10, all), 0);
    EXPECT_EQ(keep(3, 5), 5);
    EXPECT_EQ(keep(3, 5), 2);
    EXPECT_THAT(left(), ElementsAre("0", "1", "3"));
    EXPECT_EQ(keep(0, all), 3);
}

} // namespace
