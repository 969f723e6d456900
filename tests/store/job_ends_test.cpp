#include "store/queue/job_ends.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace skein::store;

constexpr std::int64_t now = 1000;

class JobEnds : public testing::Test {
protected:
    std::string find(std::int64_t id, std::int64_t time = now)
    {
        const std::optional<job_end> end = ends_.find(id, time);
        if (!end) {
            return "live";
        }
        if (end->result) {
            return *end->result;
        }
        return end->death ? "dead: " + end->death->last_error.value_or("") : "gone";
    }

    void save(std::int64_t id, std::string_view value, std::int64_t ttl)
    {
        client_.write([&] {
            results_.save(id, value, ttl, now);
            return true;
        });
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
    job_results results_{client_.connection()};
    job_ends ends_{client_.connection()};
};

TEST_F(JobEnds, AreNotThereWhileTheJobIsLiveInWhateverState)
{
    const std::int64_t id = client_.enqueue("1", now);
    EXPECT_EQ(find(id), "live");
    for (const char* state : {"scheduled", "processing", "unknown to us"}) {
        client_.file().sql("UPDATE _honker_live SET state = '" + std::string(state) + "'");
        EXPECT_EQ(find(id), "live") << state;
    }
}

TEST_F(JobEnds, AreResultsWhereverTheJobIs)
{
    const std::int64_t id = client_.enqueue("1", now);
    save(id, "2", 60);
    EXPECT_EQ(find(id), "2");
    const auto claimed = client_.claim(now);
    EXPECT_TRUE(client_.fail(claimed->fence, "no", now));
    EXPECT_EQ(find(id), "2");
    EXPECT_EQ(find(id, now + 60), "dead: no") << "its time is over";
}

TEST_F(JobEnds, AreNeitherForAJobThatIsGoneOrHasNeverBeen)
{
    const std::int64_t id = client_.enqueue("1", now);
    EXPECT_TRUE(client_.ack(client_.claim(now)->fence, now));
    EXPECT_EQ(find(id), "gone");
    EXPECT_EQ(find(id + 1), "gone");
}

} // namespace
