#include "store/jobs_program.hpp"
#include "support/statement_cost.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace {

using namespace skein::store;
using skein::support::steps_of;
using skein::support::temporary_directory;

constexpr std::int64_t now = 1000;

using crowd_maker = std::function<void(keyed_jobs_program&, int)>;

/// What may be there in large numbers, beside the jobs that are measured.
struct crowd {
    std::string_view name;
    crowd_maker make;
};

void pause_whole(keyed_jobs_program& program, std::string_view queue)
{
    program.pause(queue);
    while (program.move_slice(queue, 500) == 500) {
    }
}

void add(keyed_jobs_program& program, int count, const new_job& job, const job_keys& keys = {})
{
    for (int each = 0; each < count; ++each) {
        program.enqueue(job, keys, now);
    }
}

/// Each with a key of its own.
void add_with_own_keys(keyed_jobs_program& program, int count, const new_job& job, job_keys keys)
{
    for (int each = 0; each < count; ++each) {
        const std::string key = "crowd " + std::to_string(each);
        if (keys.unique) {
            keys.unique->key = key;
        }
        if (keys.limit) {
            keys.limit->key = key;
        }
        program.enqueue(job, keys, now);
    }
}

constexpr new_job of_queue{.queue = "q", .payload = "1"};
constexpr new_job of_other_queue{.queue = "other", .payload = "1"};
constexpr new_job delayed{.queue = "q", .payload = "1", .delay = 100'000};
const job_keys full{.limit = job_limit{"full", 1}};
const job_keys unique{.unique = unique_key{"", true}};

/// One runs, and the others wait for it.
void fill_key(keyed_jobs_program& program, int count)
{
    add(program, 1, of_queue, full);
    program.claim("q", "holder", 100'000, 1, now);
    add(program, count, of_queue, full);
}

const crowd crowds[] = {
    {"PausedElsewhere",
     [](keyed_jobs_program& program, int count) {
         add(program, count, of_other_queue);
         pause_whole(program, "other");
     }},
    {"PausedElsewhereMeanwhile",
     [](keyed_jobs_program& program, int count) {
         program.pause("other");
         add(program, count, of_other_queue);
     }},
    {"StillToBeGivenBack",
     [](keyed_jobs_program& program, int count) {
         add(program, count, delayed);
         pause_whole(program, "q");
         program.resume("q");
     }},
    {"BlockedByAFullKey", fill_key},
    {"BlockedByFullKeys",
     [](keyed_jobs_program& program, int count) {
         const job_keys limited{.limit = job_limit{"", 1}};
         for (int each = 0; each < 2; ++each) {
             add_with_own_keys(program, count, of_queue, limited);
         }
         program.claim("q", "holder", 100'000, count, now);
     }},
    {"LimitedAndDelayed",
     [](keyed_jobs_program& program, int count) { add(program, count, delayed, full); }},
    {"UniqueAndDelayed", [](keyed_jobs_program& program,
                            int count) { add_with_own_keys(program, count, delayed, unique); }},
    {"UniqueAndRunning",
     [](keyed_jobs_program& program, int count) {
         add_with_own_keys(program, count, of_queue, unique);
         program.claim("q", "holder", 100'000, count, now);
     }},
    {"UniqueForAPeriod",
     [](keyed_jobs_program& program, int count) {
         add_with_own_keys(program, count, delayed, {.unique = unique_key{"", false, 1000}});
     }},
    {"UniqueForAPeriodThatIsOver",
     [](keyed_jobs_program& program, int count) {
         add_with_own_keys(program, count, delayed, {.unique = unique_key{"", false, 1000}});
         program.file().sql("UPDATE _skein_unique_jobs SET ends_at = 900 + id % 50");
     }},
    {"AskedToStop",
     [](keyed_jobs_program& program, int count) {
         add(program, count, of_queue);
         program.claim("q", "holder", 100'000, count, now);
         program.file().sql("INSERT INTO _skein_stop_requests SELECT id, attempts"
                            " FROM _honker_live WHERE state = 'processing'");
     }},
};

/// Does everything that there is to do in a queue, on jobs of its own, and counts what it takes.
class measurement {
public:
    measurement(const std::filesystem::path& path, const crowd& what, int count) : program_(path)
    {
        what.make(program_, count);
        // The second time no statement is prepared any more, and both see the same jobs.
        for (const char* const each : {"first ", "second "}) {
            turn_ = each;
            measure_plain();
            measure_unique();
            measure_limited();
            measure_holding();
        }
    }

    /// Steps by what was done.
    [[nodiscard]] const std::map<std::string, long>& costs() const noexcept { return costs_; }

private:
    template <class Work>
    auto count(const std::string& name, Work&& work)
    {
        decltype(work()) result;
        costs_[turn_ + name] = steps_of(program_.file().handle(), [&] { result = work(); });
        return result;
    }

    std::int64_t enqueue(const std::string& name, const job_keys& keys = {},
                         const new_job& job = urgent)
    {
        return count("enqueue " + name, [&] { return program_.enqueue(job, keys, now); }).id;
    }

    job_fence claim(const std::string& name)
    {
        const auto claimed =
            count("claim " + name, [&] { return program_.claim("q", "w", 30, 1, now); });
        EXPECT_EQ(claimed.size(), 1U) << turn_ << name;
        return claimed.empty() ? job_fence{} : claimed.front();
    }

    void ack(const std::string& name, const job_fence& fence)
    {
        EXPECT_TRUE(count("ack " + name, [&] { return program_.ack(fence, now); })) << name;
    }

    void retry(const std::string& name, const job_fence& fence)
    {
        EXPECT_EQ(count("retry " + name, [&] { return program_.retry(fence, 0, now); }),
                  retry_outcome::waiting)
            << name;
    }

    bool cancel(const std::string& name, std::int64_t id)
    {
        return count("cancel " + name, [&] { return program_.cancel("q", id); });
    }

    void measure_plain()
    {
        count("has_work", [&] { return program_.has_work("q", now); });
        count("next_claim_at", [&] { return program_.next_claim_at("q", now); });
        enqueue("plain");
        retry("plain", claim("plain"));
        ack("plain", claim("plain again"));
        EXPECT_TRUE(cancel("plain", enqueue("plain")));
        enqueue("to be stopped");
        const job_fence running = claim("to be stopped");
        count("request stop", [&] { return program_.request_stop("q", running.id); });
        EXPECT_TRUE(
            count("look for a request", [&] { return program_.is_stop_requested(running.id, 1); }));
        ack("stopped", running);
    }

    void measure_unique()
    {
        const job_keys keys{.unique = unique_key{"own", false, 5},
                            .on_conflict = on_conflict::replace_and_move};
        enqueue("unique", keys);
        enqueue("unique on conflict", keys);
        ack("unique", claim("unique"));
        enqueue("unique in its period", keys);
        program_.file().sql("DELETE FROM _skein_unique_jobs WHERE key = 'own'");
    }

    void measure_limited()
    {
        const job_keys keys{.limit = job_limit{"own", 1}};
        enqueue("limited", keys);
        const std::int64_t second = enqueue("limited and blocked", keys);
        enqueue("limited and blocked again", keys);
        retry("limited", claim("limited"));
        EXPECT_TRUE(cancel("blocked", second));
        ack("limited", claim("limited again"));
        ack("limited and last", claim("limited and last"));
    }

    /// In the crowd's key, if it has one.
    void measure_holding()
    {
        const std::int64_t id = enqueue("in a full key", full, {.queue = "q", .payload = "1"});
        count("change", [&] { return program_.change("q", id, {.priority = -1}, now); });
        cancel("in a full key", id);
        count("pause", [&] { return program_.pause("q"); });
        count("pause a slice", [&] { return program_.move_slice("q", 5); });
        count("resume", [&] { return program_.resume("q"); });
        count("resume a slice", [&] { return program_.move_slice("q", 5); });
        const std::string holder =
            program_.file().value("SELECT coalesce(min(id), 0) FROM _honker_live"
                                  " WHERE worker_id = 'holder'");
        if (holder != "0") {
            const job_fence fence{std::stoll(holder), "holder", 1};
            count("give back the crowd's", [&] { return program_.snooze(fence, 5, now); });
            program_.file().sql(
                "UPDATE _honker_live SET state = 'processing', worker_id = 'holder',"
                " claim_expires_at = 100000, attempts = 1 WHERE id = (SELECT id FROM"
                " _honker_live WHERE state = 'pending' AND queue = 'q')");
        }
    }

    static constexpr new_job urgent{.queue = "q", .payload = "1", .priority = 1000};

    keyed_jobs_program program_;
    std::string turn_;
    std::map<std::string, long> costs_;
};

class KeyedJobsFlatness : public testing::TestWithParam<crowd> {};

TEST_P(KeyedJobsFlatness, CostsTheSameHoweverManyThereAre)
{
    const temporary_directory directory;
    const auto few = measurement(directory / "few.db", GetParam(), 100).costs();
    const auto many = measurement(directory / "many.db", GetParam(), 2'000).costs();
    ASSERT_EQ(few.size(), many.size());
    for (const auto& [name, cost] : few) {
        EXPECT_GT(cost, 0) << name;
        EXPECT_LE(many.at(name), cost + cost / 10) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(HoweverMany, KeyedJobsFlatness, testing::ValuesIn(crowds),
                         [](const auto& what) { return std::string(what.param.name); });

} // namespace
