#include "queue/queue_fixture.hpp"

#include <chrono>
#include <limits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ids_type = std::vector<std::int64_t>;

constexpr job_state live_states[] = {job_state::pending, job_state::scheduled,
                                     job_state::processing};

clock::wall_time at(std::int64_t second)
{
    return clock::wall_time(std::chrono::seconds(second));
}

ids_type ids(const std::vector<job_info>& jobs)
{
    ids_type all;
    for (const job_info& each : jobs) {
        all.push_back(each.id);
    }
    return all;
}

asio::awaitable<ids_type> read_pages(skein::queue queue, job_state state, std::size_t page_size)
{
    ids_type all;
    std::optional<job_place> last;
    do {
        const auto page = co_await queue.list(state, {.limit = page_size, .after = last});
        EXPECT_LE(page.size(), page_size);
        for (const job_info& each : page) {
            all.push_back(each.id);
        }
        last = page.empty() ? std::nullopt : std::optional(page.back().place());
    } while (last && all.size() < 1000);
    co_return all;
}

class QueueList : public support::queue_fixture {
protected:
    std::vector<job_info> list(job_state state, const job_list_options& options = {})
    {
        return db_.run(queue_.list(state, options));
    }

    ids_type pages(job_state state, std::size_t page_size)
    {
        return db_.run(read_pages(queue_, state, page_size));
    }

    /// A job that is claimed and kept so.
    std::int64_t lease(std::chrono::seconds visibility)
    {
        const std::int64_t id = enqueue("null", {.priority = 100});
        EXPECT_EQ(claim({.visibility = visibility}).detach().id(), id);
        return id;
    }

    void expect_refused(job_state state, const job_list_options& options, const char* part)
    {
        try {
            static_cast<void>(queue_.list(state, options));
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            EXPECT_THAT(refused.what(), HasSubstr(part));
        }
    }
};

TEST_F(QueueList, ListsPendingJobsInTheOrderOfTheirClaim)
{
    const std::int64_t normal = enqueue();
    const std::int64_t later = enqueue();
    const std::int64_t urgent = enqueue("null", {.priority = 9});
    const std::int64_t earlier = enqueue("null", {.run_at = at(50)});
    enqueue("null", {.delay = 5s});
    db_.run(db_.database().queue("another").enqueue("1"));
    const auto jobs = list(job_state::pending);
    EXPECT_THAT(ids(jobs), ElementsAre(urgent, earlier, normal, later));
    EXPECT_EQ(jobs[1].run_at, at(50));
    EXPECT_EQ(jobs[1].state, job_state::pending);
}

TEST_F(QueueList, ListsOtherJobsByTheirMoments)
{
    const std::int64_t last = enqueue("null", {.delay = 30s});
    const std::int64_t first = enqueue("null", {.delay = 10s, .priority = -9});
    EXPECT_THAT(ids(list(job_state::scheduled)), ElementsAre(first, last));
    const std::int64_t longer = lease(2min);
    const std::int64_t shorter = lease(1min);
    const auto jobs = list(job_state::processing);
    EXPECT_THAT(ids(jobs), ElementsAre(shorter, longer));
    EXPECT_EQ(jobs[0].leased_until, at(160));
    EXPECT_EQ(jobs[0].claimed_at, at(100));
    db_.advance(61s);
    EXPECT_EQ(list(job_state::processing)[0].claimed_at, std::nullopt);
    EXPECT_EQ(list(job_state::processing)[1].claimed_at, at(100));
}

TEST_F(QueueList, ListsPageByPage)
{
    for (int each = 0; each < 12; ++each) {
        enqueue("null", {.priority = each % 2});
        enqueue("null", {.delay = std::chrono::seconds(1 + each % 3)});
    }
    for (int each = 0; each < 12; ++each) {
        lease(std::chrono::seconds(each % 3));
    }
    for (const job_state state : live_states) {
        const ids_type all = ids(list(state));
        EXPECT_EQ(all.size(), 12U);
        for (const std::size_t page_size : {1U, 5U, 12U, 13U}) {
            EXPECT_EQ(pages(state, page_size), all) << page_size;
        }
    }
}

TEST_F(QueueList, ListsJobsOfTheEndOfTimeOnceEach)
{
    for (int each = 0; each < 3; ++each) {
        enqueue("null", {.delay = std::chrono::seconds::max()});
        lease(std::chrono::seconds::max());
    }
    EXPECT_EQ(pages(job_state::scheduled, 1).size(), 3U);
    EXPECT_EQ(pages(job_state::processing, 1).size(), 3U);
    EXPECT_EQ(list(job_state::scheduled)[0].run_at, clock::wall_time::max());
}

TEST_F(QueueList, GoesOnInAListWhateverHasHappenedToItsJobs)
{
    std::vector<std::int64_t> all;
    for (int each = 0; each < 6; ++each) {
        all.push_back(enqueue("null", {.delay = std::chrono::seconds(10 * (each + 1))}));
    }
    const auto page = list(job_state::scheduled, {.limit = 2});
    const job_place after = page.back().place();
    EXPECT_TRUE(db_.run(queue_.cancel(all[0])));
    EXPECT_TRUE(db_.run(queue_.cancel(all[1])));
    EXPECT_TRUE(db_.run(queue_.cancel(all[3])));
    enqueue("null", {.delay = 5s});
    const std::int64_t between = enqueue("null", {.delay = 35s});
    EXPECT_THAT(ids(list(job_state::scheduled, {.after = after})),
                ElementsAre(all[2], between, all[4], all[5]));
    const job_place sent{after.priority, after.time, after.id};
    EXPECT_EQ(sent, after);
    EXPECT_THAT(ids(list(job_state::scheduled, {.limit = 1, .after = sent})), ElementsAre(all[2]));
}

TEST_F(QueueList, ListsAHundredUnlessAskedForMore)
{
    other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150)"
               " INSERT INTO _honker_live (queue, payload) SELECT 'q', '1' FROM n");
    EXPECT_EQ(list(job_state::pending).size(), 100U);
    EXPECT_EQ(list(job_state::pending, {.limit = 1000}).size(), 150U);
    EXPECT_EQ(list(job_state::pending, {.limit = static_cast<std::size_t>(-1)}).size(), 150U);
}

TEST_F(QueueList, RefusesALimitOfZeroAndStatesThatItDoesNotList)
{
    for (const job_state state : live_states) {
        expect_refused(state, {.limit = 0}, "limit");
    }
    expect_refused(job_state::dead, {}, "dead_letters");
    expect_refused(job_state::other, {}, "state");
    expect_refused(static_cast<job_state>(77), {}, "scheduled");
}

} // namespace
