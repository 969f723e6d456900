#include "store/queue/dead_letters.hpp"
#include "store/queue_client.hpp"
#include "store/queue_model.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;

/// Does the same to a store and to the model, at random, and expects the same answers and rows.
class random_walk {
public:
    random_walk(const std::filesystem::path& path, unsigned seed) : store_(path), chance_(seed) {}

    void step()
    {
        switch (pick(14)) {
        case 0:
        case 1:
        case 2:
        case 3:
            enqueue();
            break;
        case 4:
        case 5:
        case 6:
            claim();
            break;
        case 7:
        case 8:
        case 9:
            finish();
            break;
        case 10:
            extend();
            break;
        case 11:
            interfere();
            break;
        default:
            now_ += pick(4);
        }
        compare();
    }

private:
    int pick(int count) { return static_cast<int>(chance_() % static_cast<unsigned>(count)); }

    std::int64_t any_id() { return pick(static_cast<int>(last_id_) + 2); }

    /// The fence of some claim, which may be stale by now, or what is left of it for a worker that
    /// knows only its name.
    job_fence any_fence()
    {
        if (fences_.empty()) {
            return {any_id(), "w0", 1};
        }
        const auto back = static_cast<std::size_t>(pick(8)) % fences_.size();
        const job_fence& fence = fences_[fences_.size() - 1 - back];
        return pick(3) == 0 ? unfenced(fence) : fence;
    }

    void enqueue()
    {
        const std::string payload = std::to_string(last_id_);
        new_job job{.queue = "q", .payload = payload};
        job.priority = pick(3);
        job.max_attempts = 1 + pick(3);
        if (pick(3) == 0) {
            job.delay = pick(12) - 2;
        }
        if (pick(6) == 0) {
            job.run_at = now_ + pick(12) - 6;
        }
        if (pick(4) == 0) {
            job.expires_in = pick(20) - 1;
        }
        last_id_ = store_.enqueue(job, now_);
        ASSERT_EQ(last_id_, model_.enqueue(job, now_));
    }

    void claim()
    {
        const std::int64_t most = pick(3) == 0 ? pick(6) - 1 : 1;
        const std::int64_t visibility = pick(10) - 1;
        const std::string worker = "w" + std::to_string(pick(2));
        const bool has_work = store_.has_work(now_);
        const auto ours = store_.claim_many(most, now_, visibility, worker);
        const auto expected = model_.claim(worker, visibility, most, now_);
        ASSERT_EQ(ours.size(), expected.size());
        EXPECT_TRUE(has_work || ours.empty());
        for (std::size_t each = 0; each < ours.size(); ++each) {
            EXPECT_EQ(ours[each].fence.id, expected[each].fence.id);
            EXPECT_EQ(ours[each].fence.attempts, expected[each].fence.attempts);
            EXPECT_EQ(ours[each].payload, expected[each].payload);
            EXPECT_EQ(ours[each].max_attempts, expected[each].max_attempts);
            EXPECT_EQ(ours[each].claimed_at, expected[each].claimed_at);
            EXPECT_EQ(ours[each].claim_expires_at, expected[each].claim_expires_at);
            fences_.push_back(ours[each].fence);
        }
    }

    void finish()
    {
        const job_fence fence = any_fence();
        const std::int64_t delay = pick(8) - 2;
        switch (pick(5)) {
        case 0:
            EXPECT_EQ(store_.ack(fence, now_), model_.ack(fence, now_));
            break;
        case 1:
            EXPECT_EQ(store_.retry(fence, delay, "late", now_),
                      model_.retry(fence, delay, "late", now_));
            break;
        case 2:
            EXPECT_EQ(store_.fail(fence, "bad", now_), model_.fail(fence, "bad", now_));
            break;
        case 3:
            EXPECT_EQ(store_.release(fence, now_), model_.release(fence, now_));
            break;
        default:
            EXPECT_EQ(store_.snooze(fence, delay, now_), model_.snooze(fence, delay, now_));
        }
    }

    void extend()
    {
        const job_fence fence = any_fence();
        const std::int64_t seconds = pick(10) - 2;
        EXPECT_EQ(store_.extend(fence, seconds, now_), model_.extend(fence, seconds, now_));
    }

    /// What others do to jobs: those who cancel, sweep and redrive.
    void interfere()
    {
        const std::int64_t id = any_id();
        switch (pick(3)) {
        case 0:
            EXPECT_EQ(store_.cancel(id), model_.cancel(id));
            break;
        case 1:
            EXPECT_EQ(store_.sweep_expired(now_), model_.sweep_expired(now_));
            break;
        default: {
            const auto job = store_.write([&] { return letters_.redrive("q", id, now_); });
            EXPECT_EQ(job, model_.redrive(id, now_));
            last_id_ = job.value_or(last_id_);
        }
        }
    }

    void compare()
    {
        ASSERT_EQ(store_.next_claim_at(now_), model_.next_claim_at(now_)) << "at " << now_;
        ASSERT_EQ(store_.file().sql(
                      "SELECT id, payload, state, priority, run_at, attempts, max_attempts,"
                      " expires_at, worker_id, claim_expires_at, claimed_at FROM _honker_live"
                      " ORDER BY id"),
                  model_.live());
        ASSERT_EQ(store_.file().sql("SELECT id, payload, priority, attempts, max_attempts,"
                                    " last_error, died_at FROM _honker_dead ORDER BY id"),
                  model_.dead());
    }

    queue_client store_;
    dead_letters letters_{store_.connection()};
    queue_model model_;
    std::mt19937 chance_;
    std::vector<job_fence> fences_;
    std::int64_t now_ = 1000;
    std::int64_t last_id_ = 0;
};

class QueueModel : public testing::TestWithParam<unsigned> {};

TEST_P(QueueModel, AndStoreDoTheSame)
{
    const skein::support::temporary_directory directory;
    random_walk walk(directory / "test.db", GetParam());
    for (int step = 0; step < 1000; ++step) {
        walk.step();
        ASSERT_FALSE(HasFailure()) << "in step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, QueueModel, testing::Range(1U, 9U));

} // namespace
