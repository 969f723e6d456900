#include "support/statement_counter.hpp"
#include "worker/worker_fixture.hpp"

#include <skein/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;

struct order {
    int number = 0;
    std::string item;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order, number, item)

std::vector<std::string> seen_by_function;

asio::awaitable<void> plain_function(std::string payload)
{
    seen_by_function.push_back(std::move(payload));
    co_return;
}

/// What a handler can be, and what it gets.
class Handler : public support::worker_fixture {
protected:
    /// Enqueues one job, lets the handler work, and expects that the job is done.
    template <class Function>
    void expect_done(const Function& handler, std::string_view payload)
    {
        const std::int64_t id = enqueue(payload);
        auto run = start(handler);
        EXPECT_EQ(state_of(id), "gone");
        stop(run);
    }

    std::vector<std::string> seen_;
};

TEST_F(Handler, TakesThePayloadAsText)
{
    const auto view = [this](std::string_view payload) -> asio::awaitable<void> {
        seen_.emplace_back(payload);
        co_return;
    };
    const auto string = [this](const std::string& payload) -> asio::awaitable<void> {
        seen_.push_back(payload);
        co_return;
    };
    expect_done(view, R"({ "a":1})");
    expect_done(string, R"("b")");
    EXPECT_THAT(seen_, ElementsAre(R"({ "a":1})", R"("b")"));
}

TEST_F(Handler, TakesThePayloadAsAValue)
{
    const auto by_value = [this](order wanted) -> asio::awaitable<void> {
        seen_.push_back(std::to_string(wanted.number) + wanted.item);
        co_return;
    };
    const auto by_reference = [this](const order& wanted) -> asio::awaitable<void> {
        co_await db_.database().notify("c", "1"); // the value lives until the handler ends
        seen_.push_back(std::to_string(wanted.number) + wanted.item);
    };
    const order tea{7, "tea"};
    const order cup{8, "cup"};
    expect_done(by_value, nlohmann::json(tea).dump());
    expect_done(by_reference, nlohmann::json(cup).dump());
    EXPECT_THAT(seen_, ElementsAre("7tea", "8cup"));
}

TEST_F(Handler, TakesTheJob)
{
    const auto handler = [this](job& held) -> asio::awaitable<void> {
        seen_.emplace_back(held.payload());
        seen_.push_back(std::to_string(held.attempt()));
        co_return;
    };
    expect_done(handler, "7");
    EXPECT_THAT(seen_, ElementsAre("7", "1"));
}

TEST_F(Handler, TakesTheJobAndItsPayload)
{
    const auto handler = [this](job& held, order wanted) -> asio::awaitable<void> {
        seen_.push_back(std::string(held.queue()) + wanted.item);
        co_return;
    };
    expect_done(handler, R"({"number":7,"item":"tea"})");
    EXPECT_THAT(seen_, ElementsAre("qtea"));
}

TEST_F(Handler, IsAFunctionOrAnythingThatCanBeCalled)
{
    seen_by_function.clear();
    expect_done(plain_function, "1");
    const std::function<asio::awaitable<void>(std::string)> wrapped = plain_function;
    expect_done(wrapped, "2");
    int calls = 0;
    auto counting = [&calls, own = 0](std::string_view) mutable -> asio::awaitable<void> {
        calls = ++own;
        co_return;
    };
    expect_done(counting, "3");
    EXPECT_THAT(seen_by_function, ElementsAre("1", "2"));
    EXPECT_EQ(calls, 1);
}

TEST_F(Handler, LivesUntilItsLastCallHasEnded)
{
    enqueue("1");
    auto life = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = life;
    std::optional<support::operation<void>> run;
    {
        const auto handler = [this, life](job&) -> asio::awaitable<void> {
            co_await gate_.pass();
            ++*life;
        };
        run = start(handler);
    }
    life.reset();
    EXPECT_FALSE(watched.expired());
    gate_.open();
    db_.settle();
    ASSERT_FALSE(watched.expired());
    EXPECT_EQ(*watched.lock(), 1);
    stop(*run);
    EXPECT_TRUE(watched.expired());
}

TEST_F(Handler, IsCalledForAsManyJobsAtOnceAsThereArePlaces)
{
    for (int i = 0; i < 10; ++i) {
        enqueue();
    }
    const auto handler = [this](job&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = start(handler, {.concurrency = 4});
    EXPECT_EQ(gate_.waiting(), 4);
    EXPECT_EQ(count("processing"), "4") << "nothing is claimed in advance";
    EXPECT_EQ(count("pending"), "6");
    gate_.open();
    db_.settle();
    EXPECT_EQ(left(), "0");
    stop(run);
}

TEST_F(Handler, GetsJobsInBatchesAndNotOneByOne)
{
    std::vector<new_job> jobs(1000, new_job{"1"});
    db_.run(queue_.enqueue_many(jobs));
    int calls = 0;
    const auto handler = [&](job&) -> asio::awaitable<void> {
        ++calls;
        co_return;
    };
    const support::statement_counter statements(db_.handle());
    auto run = start(handler, {.concurrency = 100});
    EXPECT_EQ(calls, 1000);
    EXPECT_EQ(left(), "0");
    EXPECT_LE(statements.count("COMMIT"), 12U) << "the ends of one batch, and the next claim";
    stop(run);
}

TEST_F(Handler, GetsTheJobsOfSeveralQueuesInTheOrderOfTheirPreference)
{
    const skein::queue urgent = db_.database().queue("urgent");
    enqueue("1");
    enqueue("2");
    db_.run(urgent.enqueue("3"));
    const auto handler = [this](std::string_view payload) -> asio::awaitable<void> {
        seen_.emplace_back(payload);
        co_return;
    };
    const queue_choice both{urgent, queue_};
    auto run = db_.start(skein::run(both, handler, {.concurrency = 1}));
    db_.settle();
    EXPECT_THAT(seen_, ElementsAre("3", "1", "2"));
    stop(run);
}

TEST_F(Handler, IsWokenByWhatIsEnqueuedLater)
{
    const auto handler = [this](std::string_view payload) -> asio::awaitable<void> {
        seen_.emplace_back(payload);
        co_return;
    };
    auto run = start(handler);
    enqueue("1");
    enqueue("2", {.delay = 10s});
    EXPECT_THAT(seen_, ElementsAre("1"));
    db_.advance(10s);
    EXPECT_THAT(seen_, ElementsAre("1", "2"));
    stop(run);
}

TEST_F(Handler, NeedsAcceptableOptions)
{
    const auto handler = [](job&) -> asio::awaitable<void> { co_return; };
    const auto refusal = [&](const worker_options& options) -> std::string {
        try {
            auto unused = skein::run(queue_, handler, options);
            return "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            return refused.what();
        }
    };
    const duration no_number(std::numeric_limits<double>::quiet_NaN());
    using ::testing::HasSubstr;
    EXPECT_THAT(refusal({.concurrency = 0}), HasSubstr("concurrency: 0"));
    EXPECT_THAT(refusal({.concurrency = 1001}), HasSubstr("1 to 1000"));
    EXPECT_THAT(refusal({.visibility = 0s}), HasSubstr("visibility: "));
    EXPECT_THAT(refusal({.backoff = {.first = -1s}}), HasSubstr("backoff.first: "));
    EXPECT_THAT(refusal({.backoff = {.first = 2s, .most = 1s}}), HasSubstr("backoff.most: "));
    EXPECT_THAT(refusal({.backoff = {.most = no_number}}), HasSubstr("backoff.most: "));
    EXPECT_THAT(refusal({.time_limit = 0s}), HasSubstr("time_limit: "));
    EXPECT_THAT(refusal({.soft_deadline = -1s}), HasSubstr("soft_deadline: "));
    EXPECT_THAT(refusal({.soft_deadline = no_number}), HasSubstr("soft_deadline: "));
    EXPECT_THAT(refusal({.soft_deadline = 2s, .hard_deadline = 1s}), HasSubstr("hard_deadline: "));
    EXPECT_THAT(refusal({.result_ttl = 0s}), HasSubstr("result_ttl: "));
    EXPECT_EQ(refusal({.concurrency = 1000,
                       .visibility = std::chrono::seconds::max(),
                       .backoff = {.first = 0s, .most = duration::max()},
                       .time_limit = duration::max(),
                       .soft_deadline = duration::max(),
                       .hard_deadline = duration::max(),
                       .result_ttl = std::chrono::seconds::max()}),
              "accepted");
    const skein::queue momentary = db_.database().queue("momentary", {.visibility = 0s});
    EXPECT_THROW(static_cast<void>(skein::run(momentary, handler)), error);
}

TEST_F(Handler, IsCalledWithTheLongestOfEverything)
{
    constexpr duration for_ever = duration::max();
    const std::int64_t id = enqueue("1");
    int calls = 0;
    const auto handler = [&](job&) -> asio::awaitable<void> {
        co_await gate_.pass();
        ++calls;
    };
    auto run = start(handler, {.visibility = std::chrono::seconds::max(),
                               .backoff = {.first = 0s, .most = for_ever},
                               .time_limit = for_ever,
                               .soft_deadline = for_ever,
                               .hard_deadline = for_ever,
                               .result_ttl = std::chrono::seconds::max()});
    run.cancel();
    db_.advance(24h * 365 * 10);
    EXPECT_FALSE(run.is_done());
    gate_.open();
    db_.settle();
    EXPECT_TRUE(run.is_done());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(state_of(id), "gone");
}

} // namespace
