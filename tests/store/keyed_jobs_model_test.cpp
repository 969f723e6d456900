// Random walks over jobs with keys in queues that are paused and resumed, by several programs, one
// of which knows the shared tables alone. More of them:
//
//     SKEIN_KEYED_JOBS_STEPS=100000 SKEIN_KEYED_JOBS_SEED=1000 store_tests
//     --gtest_filter=*KeyedJobs*

#include "sqlite/statement.hpp"
#include "store/jobs_program.hpp"
#include "store/keyed_jobs_model.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using skein::sqlite::connection;
using skein::sqlite::execution;
using skein::sqlite::statement;
using skein::support::temporary_directory;

int from_environment(const char* name, int otherwise)
{
    const char* const given = std::getenv(name);
    return given == nullptr ? otherwise : std::stoi(given);
}

/// What there is to see of the jobs, whatever holds them: the lines of the model.
constexpr const char* live_jobs =
    "SELECT live.id, live.queue, payload,"
    " coalesce(paused.state, iif(place = 2, 'pending', live.state)), live.priority,"
    " coalesce(paused.run_at, iif(place = 2, limited.run_at, live.run_at)), attempts,"
    " max_attempts, expires_at, worker_id, claim_expires_at, limited.key,"
    " iif(place = 2, 'blocked', 'free') FROM _honker_live AS live"
    " LEFT JOIN _skein_paused_jobs AS paused ON paused.id = live.id"
    " LEFT JOIN _skein_limited_jobs AS limited ON limited.id = live.id ORDER BY live.id";

constexpr const char* dead_letters = "SELECT id, queue, payload, priority, run_at, attempts,"
                                     " max_attempts FROM _honker_dead ORDER BY id";

/// Rows that must not be there. Those of keys whose period is not over may outlive their jobs.
constexpr const char* wrong_rows =
    "SELECT 'held', live.id FROM _honker_live AS live"
    " LEFT JOIN _skein_paused_jobs AS paused ON paused.id = live.id"
    " LEFT JOIN _skein_limited_jobs AS limited ON limited.id = live.id"
    " WHERE (live.state = 'scheduled' AND live.run_at = 253402300797)"
    " + 0 <> (paused.id IS NOT NULL) + ifnull(place = 2, 0)"
    " UNION ALL SELECT 'candidate', id FROM _skein_limited_jobs WHERE place = 3"
    " UNION ALL SELECT 'paused', id FROM _skein_paused_jobs"
    " WHERE id NOT IN (SELECT id FROM _honker_live)"
    " UNION ALL SELECT 'limited', id FROM _skein_limited_jobs"
    " WHERE id NOT IN (SELECT id FROM _honker_live)"
    " UNION ALL SELECT 'unique', id FROM _skein_unique_jobs"
    " WHERE ends_at IS NULL AND id NOT IN (SELECT id FROM _honker_live)"
    " UNION ALL SELECT 'stop', id FROM _skein_stop_requests"
    " WHERE id NOT IN (SELECT id FROM _honker_live)";

/// A query that is asked again and again, and its rows as a plain connection tells them.
class kept_query {
public:
    kept_query(connection where, int columns, const char* sql)
        : columns_(columns), query_(where, sql)
    {
    }

    std::vector<std::string> rows()
    {
        std::vector<std::string> all;
        execution found = query_.start();
        while (found.step()) {
            std::string& row = all.emplace_back();
            for (int each = 0; each < columns_; ++each) {
                row += each == 0 ? "" : "|";
                row += found.is_null(each) ? "NULL" : found.text(each);
            }
        }
        return all;
    }

private:
    int columns_;
    statement query_;
};

/// Does the same by programs and by the model, at random, and expects the same answers and rows.
class random_walk {
public:
    random_walk(const std::filesystem::path& path, unsigned seed)
        : first_(path), second_(path), plain_(path), chance_(seed)
    {
    }

    void step()
    {
        const int what = pick(20);
        if (what < 6 && model_.size() < 25) {
            enqueue();
        } else if (what < 10) {
            claim();
        } else if (what < 14) {
            finish();
        } else if (what < 16) {
            change();
        } else if (what == 16) {
            interfere();
        } else if (what == 17) {
            pause_or_resume();
        } else {
            pass_time();
        }
        compare();
    }

    /// Serves what is left: nothing may have been lost, or be stuck.
    void drain()
    {
        for (const std::string& queue : queues_) {
            EXPECT_EQ(first_.resume(queue), model_.resume(queue));
            give_back_all(queue);
        }
        now_ += 1000;
        for (std::size_t left = model_.size(); left != 0; --left) {
            const std::string& queue = any_queue();
            for (const job_fence& each : claim_both(first_, queue, 3, 100)) {
                ASSERT_TRUE(first_.ack(each, now_));
                ASSERT_TRUE(model_.ack(each, now_));
            }
            compare();
        }
        for (int each = 0; each < 100 && model_.size() != 0; ++each) {
            for (const job_fence& job : claim_both(first_, queues_[each % 2], 3, 100)) {
                ASSERT_TRUE(first_.ack(job, now_));
                ASSERT_TRUE(model_.ack(job, now_));
            }
        }
        compare();
        ASSERT_EQ(model_.size(), 0U) << "jobs are stuck";
        EXPECT_EQ(first_.file().value("SELECT (SELECT count(*) FROM _skein_paused_jobs)"
                                      " + (SELECT count(*) FROM _skein_limited_jobs)"
                                      " + (SELECT count(*) FROM _skein_job_limits)"
                                      " + (SELECT count(*) FROM _skein_stop_requests)"
                                      " + (SELECT count(*) FROM _skein_unique_jobs"
                                      " WHERE ends_at IS NULL)"),
                  "0");
        EXPECT_EQ(first_.file().value("PRAGMA integrity_check"), "ok");
    }

private:
    using ids = keyed_jobs_model::ids;

    int pick(int count) { return static_cast<int>(chance_() % static_cast<unsigned>(count)); }

    const std::string& any_queue() { return queues_[static_cast<std::size_t>(pick(2))]; }

    keyed_jobs_program& any_of_ours() { return pick(2) == 0 ? first_ : second_; }

    jobs_program& any_program()
    {
        return pick(3) == 0 ? plain_ : static_cast<jobs_program&>(any_of_ours());
    }

    std::int64_t any_id() { return std::max<std::int64_t>(1, model_.last_id() - pick(40)); }

    /// The fence of some claim, which may be stale by now.
    job_fence any_fence()
    {
        if (fences_.empty()) {
            return {any_id(), "w0", 1};
        }
        const auto back = static_cast<std::size_t>(pick(10)) % fences_.size();
        return fences_[fences_.size() - 1 - back];
    }

    [[nodiscard]] ids aside(const std::string& queue) const
    {
        ids those;
        for (const std::string& each :
             first_.file().sql("SELECT id FROM _skein_paused_jobs WHERE queue = '" + queue + "'")) {
            those.insert(std::stoll(each));
        }
        return those;
    }

    void give_back_all(const std::string& queue)
    {
        while (first_.move_slice(queue, 3) == 3) {
        }
    }

    void enqueue()
    {
        const std::string payload = std::to_string(model_.last_id());
        new_job job{.queue = any_queue(), .payload = payload};
        job.priority = pick(3);
        job.max_attempts = 1 + pick(3);
        if (pick(3) == 0) {
            job.delay = pick(12) - 2;
        }
        if (pick(6) == 0) {
            job.expires_in = pick(20);
        }
        if (pick(4) == 0) {
            EXPECT_EQ(any_program().enqueue(job, now_), model_.enqueue(job, {}, now_).id);
            return;
        }
        job_keys keys;
        if (pick(2) == 0) {
            keys.unique = {unique_keys_[static_cast<std::size_t>(pick(3))], pick(2) == 0};
            if (pick(3) == 0) {
                keys.unique->period = 1 + pick(20);
            }
            keys.on_conflict = static_cast<on_conflict>(pick(4));
        }
        if (pick(4) != 0) {
            const std::string& key = limited_keys_[static_cast<std::size_t>(pick(2))];
            const auto last = model_.limits().find({std::string(job.queue), key});
            const bool is_kept = last != model_.limits().end() && pick(4) != 0;
            keys.limit = {key, is_kept ? last->second : 1 + pick(3)};
        }
        const enqueued_job ours = any_of_ours().enqueue(job, keys, now_);
        const enqueued_job expected = model_.enqueue(job, keys, now_);
        EXPECT_EQ(ours.id, expected.id);
        EXPECT_EQ(ours.outcome, expected.outcome);
    }

    std::vector<job_fence> claim_both(jobs_program& program, const std::string& queue,
                                      std::int64_t most, std::int64_t visibility)
    {
        if (!model_.is_paused(queue) && model_.must_bury(queue, now_)) {
            give_back_all(
                queue); // each job that ends would give back some more, in the midst of it
        }
        const std::string worker = "w" + std::to_string(pick(2));
        const ids those_aside = aside(queue);
        const bool has_work = first_.has_work(queue, now_);
        const std::vector<job_fence> ours = program.claim(queue, worker, visibility, most, now_);
        const std::vector<job_fence> expected = model_.claim(
            queue, worker, visibility, static_cast<std::size_t>(most), those_aside, now_);
        EXPECT_TRUE(has_work || ours.empty());
        EXPECT_EQ(ours.size(), expected.size()) << "of " << queue << " at " << now_;
        for (std::size_t each = 0; each < std::min(ours.size(), expected.size()); ++each) {
            EXPECT_EQ(ours[each].id, expected[each].id);
            EXPECT_EQ(ours[each].attempts, expected[each].attempts);
            fences_.push_back(ours[each]);
        }
        return ours;
    }

    void claim()
    {
        const std::int64_t most = pick(3) == 0 ? 1 + pick(5) : 1;
        const std::string& queue = any_queue();
        claim_both(any_program(), queue, most, pick(10) - 1);
    }

    void finish()
    {
        const job_fence fence = any_fence();
        const std::int64_t delay = pick(3) == 0 ? pick(8) : 0;
        const int what = pick(7);
        if (what < 2) {
            keyed_jobs_program& ours = any_of_ours();
            if (what == 0) {
                EXPECT_EQ(ours.release(fence, now_), model_.release(fence, now_));
            } else {
                EXPECT_EQ(ours.snooze(fence, delay, now_), model_.snooze(fence, delay, now_));
            }
            return;
        }
        jobs_program& program = any_program();
        const job_fence known = &program == &plain_ ? job_fence{fence.id, fence.worker_id} : fence;
        if (what < 4) {
            EXPECT_EQ(program.ack(fence, now_), model_.ack(known, now_));
        } else if (what == 4) {
            EXPECT_EQ(program.retry(fence, delay, now_), model_.retry(known, delay, now_));
        } else if (what == 5) {
            EXPECT_EQ(program.fail(fence, now_), model_.fail(known, now_));
        } else {
            EXPECT_EQ(program.extend(fence, delay - 1, now_),
                      model_.extend(known, delay - 1, now_));
        }
    }

    void change()
    {
        const std::string& queue = any_queue();
        const std::int64_t id = any_id();
        job_change wanted;
        if (pick(2) == 0) {
            wanted.payload = "\"changed\"";
        }
        if (pick(2) == 0) {
            wanted.priority = pick(3);
        }
        if (pick(2) == 0) {
            wanted.delay = pick(6);
        }
        EXPECT_EQ(any_of_ours().change(queue, id, wanted, now_),
                  model_.change(queue, id, wanted, now_));
    }

    /// What others do to jobs: those who cancel, sweep, and ask for a stop.
    void interfere()
    {
        const std::string& queue = any_queue();
        const std::int64_t id = any_id();
        const std::int64_t priority = pick(3);
        switch (pick(12)) {
        case 0:
            plain_.change_all_that_wait(queue, priority);
            model_.change_all_that_wait(queue, priority);
            break;
        case 1:
            plain_.cancel_all(queue, priority);
            model_.cancel_all(queue, priority);
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            EXPECT_EQ(any_program().cancel(queue, id), model_.cancel(queue, id));
            break;
        case 6:
        case 7:
        case 8:
            EXPECT_EQ(any_program().sweep_expired(queue, now_), model_.sweep_expired(queue, now_));
            break;
        default:
            EXPECT_EQ(any_of_ours().request_stop(queue, id), model_.request_stop(queue, id));
        }
    }

    /// As many slices as there were before it was killed.
    void pause_or_resume()
    {
        const std::string& queue = any_queue();
        keyed_jobs_program& ours = any_of_ours();
        if (pick(2) == 0) {
            EXPECT_EQ(ours.pause(queue), model_.pause(queue));
        } else {
            EXPECT_EQ(ours.resume(queue), model_.resume(queue));
        }
        const std::int64_t most = 1 + pick(4);
        for (int left = pick(5); left != 0 && ours.move_slice(queue, most) == most; --left) {
        }
    }

    void pass_time()
    {
        now_ += pick(4);
        if (pick(20) == 0) {
            any_program().let_triggers_recurse(pick(2) == 0);
        }
        expect_forecast();
    }

    /// A waiter is never woken too late.
    void expect_forecast()
    {
        const std::string& queue = any_queue();
        if (const auto moment = model_.next_claim_at(queue, aside(queue), now_)) {
            const auto told = any_of_ours().next_claim_at(queue, now_);
            ASSERT_TRUE(told) << queue << " at " << now_ << ", next is " << *moment;
            EXPECT_LE(*told, *moment) << queue << " at " << now_;
            EXPECT_GE(*told, now_);
        }
    }

    void compare()
    {
        ASSERT_EQ(live_.rows(), model_.live()) << "at " << now_;
        ASSERT_THAT(wrong_.rows(), testing::IsEmpty());
        compare_limits();
        compare_keys();
        if (!model_.dead().empty()) {
            ASSERT_EQ(dead_.rows(), model_.dead()) << "at " << now_;
            model_.forget_dead();
            first_.file().sql("DELETE FROM _honker_dead");
        }
    }

    /// More than may run do so only where the limit was lowered meanwhile.
    void compare_limits()
    {
        std::map<std::pair<std::string, std::string>, std::int64_t> running;
        std::vector<std::string> lines;
        for (const auto& [key, most] : model_.limits()) {
            lines.push_back(key.first + "|" + key.second + "|" + std::to_string(most));
            running[key] = model_.running(key.first, key.second);
            ASSERT_LE(running[key], std::max(most, running_[key])) << key.second;
        }
        running_ = running;
        ASSERT_EQ(limits_.rows(), lines);
    }

    void compare_keys()
    {
        keyed_jobs_program& ours = any_of_ours();
        const std::string& queue = any_queue();
        const std::string& key = unique_keys_[static_cast<std::size_t>(pick(3))];
        ASSERT_EQ(ours.holder(queue, key, now_), model_.holder(queue, key, now_));
        const job_fence fence = any_fence();
        ASSERT_EQ(ours.is_stop_requested(fence.id, fence.attempts.value()),
                  model_.is_stop_requested(fence.id, fence.attempts.value()));
    }

    const std::vector<std::string> queues_{"a", "b"};
    const std::vector<std::string> limited_keys_{"k", "l"};
    const std::vector<std::string> unique_keys_{"u", "v", ""};
    keyed_jobs_program first_;
    keyed_jobs_program second_;
    shared_tables_program plain_;
    const connection seen_by_{second_.file().handle()};
    kept_query live_{seen_by_, 13, live_jobs};
    kept_query dead_{seen_by_, 7, dead_letters};
    kept_query wrong_{seen_by_, 2, wrong_rows};
    kept_query limits_{seen_by_, 3,
                       "SELECT queue, key, most FROM _skein_job_limits ORDER BY queue, key"};
    keyed_jobs_model model_;
    std::mt19937 chance_;
    std::vector<job_fence> fences_;
    std::map<std::pair<std::string, std::string>, std::int64_t> running_;
    std::int64_t now_ = 1000;
};

class KeyedJobsModel : public testing::TestWithParam<int> {};

TEST_P(KeyedJobsModel, AndProgramsDoTheSame)
{
    const temporary_directory directory;
    const int seed = from_environment("SKEIN_KEYED_JOBS_SEED", 0) + GetParam();
    random_walk walk(directory / "test.db", static_cast<unsigned>(seed));
    const int steps = from_environment("SKEIN_KEYED_JOBS_STEPS", 6'250);
    for (int step = 0; step < steps; ++step) {
        walk.step();
        ASSERT_FALSE(HasFailure()) << "in step " << step << " of seed " << seed;
    }
    walk.drain();
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, KeyedJobsModel, testing::Range(1, 17));

} // namespace
