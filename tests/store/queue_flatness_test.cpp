#include "store/queue/dead_letters.hpp"
#include "store/queue/job_results.hpp"
#include "store/queue/queue_inspection.hpp"
#include "store/queue_client.hpp"
#include "support/statement_cost.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::steps_of;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t now = 1000;

/// What may be there in large numbers, written for `i` in 1…n.
struct crowd {
    std::string_view name;
    std::string_view table;
    std::string_view columns;
    std::string_view values;
};

constexpr std::string_view live = "_honker_live (queue, payload, run_at, created_at";
constexpr std::string_view dead = "_honker_dead (id, queue, payload, created_at";
constexpr std::string_view results = "_honker_results (job_id, value";

// Jobs that claims may not take, and those that they may.
constexpr crowd crowds[] = {
    {"Ready", live, "", "'q', '0', 1, 0"},
    {"ReadyOfManyPriorities", live, ", priority", "'q', '0', i % 7, 0, i % 100"},
    {"ReadyThatWillExpire", live, ", expires_at", "'q', '0', 1, 0, 100000 + i"},
    {"ReadyInAnotherQueue", live, ", priority", "'another', '0', 1, 0, 9"},
    {"ReadyInManyQueues", live, ", priority", "'another' || i, '0', 1, 0, 9"},
    {"Delayed", live, ", state, priority", "'q', '0', 100000 + i, 0, 'scheduled', 9"},
    {"DelayedToOneMoment", live, ", state, priority", "'q', '0', 100000, 0, 'scheduled', 9"},
    {"DelayedAndWillExpire", live, ", state, expires_at",
     "'q', '0', 100000 + i, 0, 'scheduled', 90000 + i"},
    {"InFlight", live, ", state, worker_id, claim_expires_at, attempts",
     "'q', '0', 1, 0, 'processing', 'w' || i, 100000 + i, 1"},
    {"InFlightToOneMoment", live, ", state, worker_id, claim_expires_at, attempts",
     "'q', '0', 1, 0, 'processing', 'w', 100000, 1"},
    {"InFlightForTheLastTime", live, ", state, worker_id, claim_expires_at, attempts",
     "'q', '0', 1, 0, 'processing', 'w', 100000 + i, 3"},
    {"InFlightAndExpired", live, ", state, worker_id, claim_expires_at, attempts, expires_at",
     "'q', '0', 1, 0, 'processing', 'w', 100000 + i, 1, 500 + i % 100"},
    {"Dead", dead, ", last_error, died_at", "1000000 + i, 'q', '0', 0, 'e' || (i % 3), i"},
    {"DeadAtOnce", dead, ", last_error, died_at", "1000000 + i, 'q', '0', 0, 'e', 900"},
    {"DeadInAnotherQueue", dead, ", died_at", "1000000 + i, 'another', '0', 0, 1"},
    {"Results", results, ", created_at", "1000000 + i, '0', 900 + i % 50"},
    {"ResultsForATime", results, ", created_at, expires_at", "1000000 + i, '0', 900, 100000 + i"},
};

void insert(const skein::support::plain_connection& file, const crowd& what, int count)
{
    file.sql("BEGIN; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
             std::to_string(count) + ") INSERT INTO " + std::string(what.table) +
             std::string(what.columns) + ") SELECT " + std::string(what.values) +
             " FROM n; COMMIT");
}

/// Does everything that there is to do in a queue, on jobs of its own, and counts what it takes.
class measurement {
public:
    measurement(const std::filesystem::path& path, const crowd& what, int count)
        : client_(path), half_(" LIMIT 1 OFFSET " + std::to_string(count / 2))
    {
        insert(client_.file(), what, count);
        // The second time no statement is prepared any more, and both see the same jobs.
        for (const char* const each : {"first ", "second "}) {
            turn_ = each;
            measure_waiting();
            measure_finishing();
            measure_inspection();
            measure_dead_letters();
            measure_results();
        }
    }

    /// Steps by what was done.
    [[nodiscard]] const std::map<std::string, long>& costs() const noexcept { return costs_; }

    /// How SQLite does it.
    [[nodiscard]] std::vector<std::string> plans() const
    {
        return skein::support::query_plans(client_.file().handle());
    }

private:
    template <class Work>
    auto count(const std::string& name, Work&& work)
    {
        decltype(work()) result;
        costs_[turn_ + name] = steps_of(client_.file().handle(), [&] { result = work(); });
        return result;
    }

    job_fence claim(const std::string& name)
    {
        client_.enqueue({.queue = "q", .payload = "1", .priority = 1000}, now);
        const auto claimed = count("claim, " + name, [&] { return client_.claim(now); });
        EXPECT_TRUE(claimed) << turn_ << name;
        return claimed.value().fence;
    }

    void measure_waiting()
    {
        count("has_work", [&] { return client_.has_work(now); });
        count("next_claim_at", [&] { return client_.next_claim_at(now); });
        if (!client_.has_work(now)) {
            count("empty claim", [&] { return client_.claim(now); });
            count("empty claim of many", [&] { return client_.claim_many(16, now); });
        }
    }

    void measure_finishing()
    {
        count("enqueue", [&] { return client_.enqueue("1", now); });
        count("enqueue delayed",
              [&] { return client_.enqueue({.queue = "q", .payload = "1", .delay = 10}, now); });
        count("ack", [&, fence = claim("ack")] { return client_.ack(fence, now); });
        count("ack unfenced",
              [&, fence = unfenced(claim("ack unfenced"))] { return client_.ack(fence, now); });
        count("retry", [&, fence = claim("retry")] { return client_.retry(fence, 5, "e", now); });
        count("fail", [&, fence = claim("fail")] { return client_.fail(fence, "e", now); });
        count("extend", [&, fence = claim("extend")] { return client_.extend(fence, 99, now); });
        count("snooze", [&, fence = claim("snooze")] { return client_.snooze(fence, 5, now); });
        const job_fence released = claim("release");
        count("release", [&] { return client_.release(released, now); });
        count("cancel", [&] { return client_.cancel(released.id); });
        for (int each = 0; each < 16; ++each) {
            client_.enqueue({.queue = "q", .payload = "1", .priority = 1000}, now);
        }
        const auto many = count("claim of many", [&] { return client_.claim_many(16, now); });
        EXPECT_EQ(many.size(), 16U);
    }

    void measure_inspection()
    {
        for (const auto& [name, state] : {std::pair("pending", job_state::pending),
                                          std::pair("scheduled", job_state::scheduled),
                                          std::pair("processing", job_state::processing)}) {
            const auto first = count(std::string("first page of ") + name,
                                     [&] { return inspection_.list("q", state, {}, 10); });
            const auto middle =
                client_.file().sql("SELECT id FROM _honker_live WHERE queue = 'q' AND state = '" +
                                   std::string(name) + "'" + half_);
            // Only a crowd has one, in both sizes.
            if (!middle.empty()) {
                const job_position after(inspection_.find_live(std::stoll(middle[0])).value());
                count(std::string("page of ") + name,
                      [&] { return inspection_.list("q", state, after, 10); });
            }
        }
        const std::int64_t id = client_.enqueue("1", now);
        count("find", [&] { return inspection_.find(id).index(); });
        count("next name", [&] { return inspection_.next_name("another"); });
    }

    void measure_dead_letters()
    {
        for (int each = 0; each < 3; ++each) {
            client_.fail(claim("to die"), "mine", 5);
        }
        count("first page of dead", [&] { return letters_.list({.queue = "q"}, {}, 10); });
        const auto middle =
            client_.file().sql("SELECT died_at, id FROM _honker_dead WHERE queue = 'q'"
                               " ORDER BY died_at, id" +
                               half_);
        if (!middle.empty()) {
            const auto bar = middle[0].find('|');
            const dead_letter_position after{std::stoll(middle[0].substr(0, bar)),
                                             std::stoll(middle[0].substr(bar + 1))};
            count("page of dead", [&] { return letters_.list({.queue = "q"}, after, 10); });
        }
        const auto oldest = letters_.list({.queue = "q"}, {}, 1);
        count("redrive", [&] {
            return client_.write([&] { return letters_.redrive("q", oldest.at(0).id, now); });
        });
        const dead_letter_position last = letters_.newest_but("q", 0).value();
        count("slice of dead", [&] { return letters_.next_slice({"q", {}, last}, 10); });
        count("slice of dead with another error",
              [&] { return letters_.next_slice({"q", {}, last, "none"}, 10); });
        count("slice of no dead", [&] { return letters_.next_slice({"q", {}, {}}, 10); });
        count("newest dead", [&] { return letters_.newest_but("q", 2); });
        const job_fence removed = claim("to be removed");
        client_.fail(removed, "mine", now);
        count("remove dead", [&] {
            return client_.write([&] {
                letters_.remove(removed.id);
                return true;
            });
        });
    }

    void measure_results()
    {
        const auto save = [&](std::int64_t id, std::int64_t ttl) {
            return client_.write([&] {
                results_.save(id, "1", ttl, 800);
                return true;
            });
        };
        count("save", [&] { return save(1, 60); });
        count("save again", [&] { return save(1, 60); });
        count("get", [&] { return results_.get(1, 800); });
        count("sweep", [&] { return client_.write([&] { return results_.sweep(100, now); }); });
        save(2, 0);
        count("purge results",
              [&] { return client_.write([&] { return results_.purge(801, 100); }); });
        save(3, 0);
        save(4, 0);
        count("keep newest results",
              [&] { return client_.write([&] { return results_.keep_newest(1, 1); }); });
    }

    queue_client client_;
    std::string half_;
    queue_inspection inspection_{client_.connection()};
    dead_letters letters_{client_.connection()};
    job_results results_{client_.connection()};
    std::string turn_;
    std::map<std::string, long> costs_;
};

class QueueFlatness : public testing::TestWithParam<crowd> {};

TEST_P(QueueFlatness, CostsTheSameHoweverManyThereAre)
{
    const skein::support::temporary_directory directory;
    const auto few = measurement(directory / "few.db", GetParam(), 1'000).costs();
    const auto many = measurement(directory / "many.db", GetParam(), 100'000).costs();
    ASSERT_EQ(few.size(), many.size());
    for (const auto& [name, cost] : few) {
        EXPECT_GT(cost, 0) << name;
        EXPECT_LE(many.at(name), cost + cost / 10) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(HoweverMany, QueueFlatness, testing::ValuesIn(crowds),
                         [](const auto& what) { return std::string(what.param.name); });

/// Jobs that a claim has to put somewhere else before it takes another.
constexpr crowd chores[] = {
    {"Due", live, ", state", "'q', '0', 1, 0, 'scheduled'"},
    {"ExpiredWhileDelayed", live, ", state, expires_at",
     "'q', '0', 100000 + i, 0, 'scheduled', 500 + i % 100"},
    {"ExpiredWhileReady", live, ", expires_at", "'q', '0', 1, 0, 500 + i % 100"},
};

class HousekeepingFlatness : public testing::TestWithParam<crowd> {};

TEST_P(HousekeepingFlatness, OfOneClaimCostsTheSameHoweverMuchThereIsToDo)
{
    const auto cost = [](int count) {
        const skein::support::temporary_directory directory;
        queue_client client(directory / "test.db");
        client.enqueue({.queue = "q", .payload = "1", .priority = 1000}, now);
        client.claim(now);
        insert(client.file(), GetParam(), count);
        client.enqueue({.queue = "q", .payload = "1", .priority = 1000}, now);
        long steps = steps_of(client.file().handle(), [&] { client.has_work(now); });
        steps += steps_of(client.file().handle(), [&] { client.claim(now); });
        return steps;
    };
    const long few = cost(1'000);
    EXPECT_GT(few, 0);
    EXPECT_LE(cost(100'000), few + few / 10);
}

INSTANTIATE_TEST_SUITE_P(HoweverMuch, HousekeepingFlatness, testing::ValuesIn(chores),
                         [](const auto& what) { return std::string(what.param.name); });

TEST(QueueCost, OfAnEmptyClaimIsAFewSteps)
{
    const skein::support::temporary_directory directory;
    queue_client client(directory / "test.db");
    client.has_work(now);
    const long cost = steps_of(client.file().handle(), [&] { client.has_work(now); });
    EXPECT_GT(cost, 0);
    EXPECT_LT(cost, 200);
}

TEST(QueueCost, OfAllNamesGrowsWithTheQueuesOnly)
{
    const auto cost = [](int jobs) {
        const skein::support::temporary_directory directory;
        queue_client client(directory / "test.db");
        const std::string queue = "'queue ' || (i % 50)";
        insert(client.file(), {"", live, "", queue + ", '0', 1, 0"}, jobs);
        insert(client.file(), {"", live, ", state", queue + ", '0', 1, 0, 'scheduled'"}, jobs);
        insert(client.file(), {"", dead, "", "i, " + queue + ", '0', 0"}, jobs);
        queue_inspection inspection(client.connection());
        std::size_t queues = 0;
        const auto count = [&] {
            for (auto name = inspection.first_name(); name; name = inspection.next_name(*name)) {
                ++queues;
            }
        };
        count();
        const long steps = steps_of(client.file().handle(), count);
        EXPECT_EQ(queues, 100U);
        return steps;
    };
    const long few = cost(1'000);
    EXPECT_GT(few, 0);
    EXPECT_LT(few, 50 * 200);
    EXPECT_LE(cost(100'000), few + few / 10);
}

TEST(QueueCost, OfAClaimBehindExpiredJobsFallsWithEveryClaim)
{
    const skein::support::temporary_directory directory;
    queue_client client(directory / "test.db");
    insert(client.file(), {"", live, ", expires_at", "'q', '0', 1, 0, 500"}, 10'000);
    for (int each = 0; each < 20; ++each) {
        client.enqueue("1", now);
    }
    client.next_claim_at(now);
    for (int each = 0; each < 10; ++each) {
        ASSERT_TRUE(client.claim(now));
    }
    EXPECT_EQ(client.file().value("SELECT count(*) FROM _honker_dead"), "10000");
    const long cost = steps_of(client.file().handle(), [&] { client.claim(now); });
    EXPECT_LT(cost, 500);
}

TEST(QueueCost, OfASomeClaimDoesNotGrowWithTheExpiredJobsInFront)
{
    const auto cost = [](int count) {
        const skein::support::temporary_directory directory;
        queue_client client(directory / "test.db");
        insert(client.file(), {"", live, ", expires_at", "'q', '0', 1, 0, 500"}, count);
        client.enqueue("1", now);
        client.claim_some(1, now);
        long steps = steps_of(client.file().handle(), [&] { client.has_work(now); });
        steps += steps_of(client.file().handle(), [&] {
            const auto some = client.claim_some(1, now);
            EXPECT_TRUE(some.jobs.empty());
            EXPECT_FALSE(some.is_finished);
        });
        return steps;
    };
    const long few = cost(10'000);
    EXPECT_LE(cost(100'000), few + few / 10);
}

TEST(QueueCost, OfSomeClaimsBehindExpiredJobsEndsWithTheJob)
{
    const skein::support::temporary_directory directory;
    queue_client client(directory / "test.db");
    insert(client.file(), {"", live, ", expires_at", "'q', '0', 1, 0, 500"}, 10'000);
    const std::int64_t id = client.enqueue("1", now);
    int claims = 1;
    auto some = client.claim_some(2, now);
    for (; some.jobs.empty() && !some.is_finished; ++claims) {
        some = client.claim_some(2, now);
    }
    ASSERT_EQ(some.jobs.size(), 1U);
    EXPECT_EQ(some.jobs[0].fence.id, id);
    EXPECT_LE(claims, 10);
}

TEST(QueuePlans, NeitherScanTheJobsNorSortWhereNoLeaseHasLapsed)
{
    const skein::support::temporary_directory directory;
    const measurement all(directory / "test.db", crowds[0], 1'000);
    const auto plans = all.plans();
    EXPECT_GE(plans.size(), 40U);
    EXPECT_THAT(plans, Each(Not(HasSubstr("=> SCAN _honker_live"))));
    EXPECT_THAT(plans, Each(Not(HasSubstr("=> SCAN _honker_dead"))));
    EXPECT_THAT(plans, Each(Not(HasSubstr("TEMP B-TREE"))));
}

} // namespace
