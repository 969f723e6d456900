#include "observer/observer_fixture.hpp"
#include "support/temporary_directory.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Counts, and throws at each event.
class throwing_observer final : public observer {
public:
    void on_job_enqueued(const job_enqueued& /*event*/) override
    {
        ++calls;
        throw std::runtime_error("mine");
    }
    void on_batch_committed(const batch_committed& /*event*/) override
    {
        ++calls;
        throw 5;
    }

    int calls = 0;
};

TEST(Observer, ThatThrowsHarmsNothingAndIsLoggedOnce)
{
    const auto throwing = std::make_shared<throwing_observer>();
    std::vector<std::string> warnings;
    database_options options = support::manual_database::quick();
    options.warn_of_wal_reset_bug = false;
    options.observer = throwing;
    options.log = [&](log_level level, std::string_view text) {
        if (level == log_level::warning) {
            warnings.emplace_back(text);
        }
    };
    support::manual_database db(options);
    const skein::queue queue = db.database().queue("q");
    EXPECT_EQ(db.run(queue.enqueue("1")), 1);
    const std::array<new_job, 2> both{new_job{"2"}, new_job{"3"}};
    EXPECT_THAT(db.run(queue.enqueue_many(both)), ElementsAre(2, 3));
    EXPECT_EQ(throwing->calls, 5) << "one throw takes no other event away";
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("the observer has thrown, its later exceptions are "
                                                "not told: mine")));
}

class ObserverCalls : public support::observer_fixture {};

TEST_F(ObserverCalls, ComeBeforeTheOperationReturns)
{
    std::vector<std::string> told;
    const auto work = [](skein::queue queue, support::recording_observer& observer,
                         std::vector<std::string>& at_return) -> asio::awaitable<void> {
        const std::int64_t id = co_await queue.enqueue("1");
        static_cast<void>(id);
        at_return = observer.take();
    };
    db_.run(work(queue_, *observer_, told));
    EXPECT_THAT(told, SizeIs(2));
}

TEST(Observer, IsLetGoOfWithTheLastHandle)
{
    const support::temporary_directory directory;
    database_options options = support::manual_database::quick();
    options.observer = std::make_shared<observer>();
    const std::weak_ptr<observer> kept = options.observer;
    std::optional<skein::queue> queue;
    {
        const database db(directory.path() / "app.db", options);
        options.observer.reset();
        queue = db.queue("q");
        EXPECT_FALSE(kept.expired());
    }
    queue.reset();
    EXPECT_TRUE(kept.expired());
}

/// Remembers which threads it is called on, and whether two calls were ever at the same time.
class watchful_observer final : public observer {
public:
    void on_job_enqueued(const job_enqueued& /*event*/) override { note(); }
    void on_job_claimed(const job_claimed& /*event*/) override { note(); }
    void on_job_acked(const job_acked& /*event*/) override { note(); }
    void on_batch_committed(const batch_committed& /*event*/) override { note(); }

    std::set<std::thread::id> threads;
    std::atomic<bool> has_overlapped = false;
    int calls = 0; ///< not atomic: one call at a time needs no more

private:
    void note()
    {
        if (is_called_.exchange(true)) {
            has_overlapped = true;
        }
        threads.insert(std::this_thread::get_id());
        ++calls;
        is_called_ = false;
    }

    std::atomic<bool> is_called_ = false;
};

asio::awaitable<void> pass_jobs(skein::queue queue, int count)
{
    for (int each = 0; each != count; ++each) {
        const std::int64_t id = co_await queue.enqueue("1");
        static_cast<void>(id);
        job claimed = co_await queue.claim();
        const bool is_done = co_await claimed.ack();
        EXPECT_TRUE(is_done);
    }
}

TEST(Observer, IsCalledOnTheDatabasesOwnThreadAlone)
{
    const support::temporary_directory directory;
    const auto watchful = std::make_shared<watchful_observer>();
    {
        database_options options;
        options.durability = durability::off;
        options.observer = watchful;
        const database db(directory.path() / "app.db", options);
        const skein::queue queue = db.queue("q");
        std::vector<std::thread> callers;
        for (int each = 0; each != 3; ++each) {
            callers.emplace_back([&queue] {
                asio::io_context context;
                auto done = asio::co_spawn(context, pass_jobs(queue, 20), asio::use_future);
                context.run();
                done.get();
            });
        }
        for (std::thread& each : callers) {
            each.join();
        }
    }
    EXPECT_THAT(watchful->threads, SizeIs(1));
    EXPECT_FALSE(watchful->has_overlapped);
    EXPECT_GE(watchful->calls, 180);
}

/// Thread-safe, as one that two databases share has to be.
class shared_observer final : public observer {
public:
    void on_job_acked(const job_acked& event) override { ++(event.queue == "a" ? a : b); }

    std::atomic<int> a = 0;
    std::atomic<int> b = 0;
};

TEST(Observer, OfTwoDatabasesIsToldWhatEachOfThemDoes)
{
    const support::temporary_directory directory;
    const auto shared = std::make_shared<shared_observer>();
    database_options options;
    options.durability = durability::off;
    options.observer = shared;
    const database first(directory.path() / "app.db", options);
    const database second(directory.path() / "app.db", options);
    const std::array<skein::queue, 2> queues{first.queue("a"), second.queue("b")};
    asio::io_context context;
    auto one = asio::co_spawn(context, pass_jobs(queues[0], 10), asio::use_future);
    auto two = asio::co_spawn(context, pass_jobs(queues[1], 20), asio::use_future);
    context.run();
    one.get();
    two.get();
    EXPECT_EQ(shared->a, 10);
    EXPECT_EQ(shared->b, 20);
}

TEST(Observer, ThatOverridesNothingIsFine)
{
    database_options options = support::manual_database::quick();
    options.observer = std::make_shared<observer>();
    support::manual_database db(options);
    const skein::queue queue = db.database().queue("q");
    db.run(pass_jobs(queue, 2));
    EXPECT_EQ(db.run(queue.counts()).pending, 0U);
}

} // namespace
