#include "worker/worker_fixture.hpp"

#include <skein/json.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TransportWorker : public support::worker_fixture {
protected:
    void publish(std::string_view group, std::string_view payload)
    {
        db_.run(mails_.publish(group, payload));
    }

    template <class Handler>
    support::operation<void> work(const Handler& handler, const worker_options& options = {})
    {
        auto started = db_.start(skein::run(mails_, handler, options));
        db_.settle();
        return started;
    }

    std::size_t messages() { return db_.run(mails_.counts()).messages; }

    skein::transport mails_ = db_.database().transport();
    std::vector<std::string> seen_;
};

TEST_F(TransportWorker, KeepsTheOrderInsideAGroup)
{
    for (const char* payload : {"a1", "a2", "a3"}) {
        publish("a", payload);
    }
    publish("b", "b1");
    const auto handler = [this](std::string_view payload) -> asio::awaitable<void> {
        seen_.emplace_back(payload);
        co_await gate_.pass();
        seen_.push_back("end of " + std::string(payload));
    };
    auto run = work(handler);
    EXPECT_THAT(seen_, ::testing::UnorderedElementsAre("a1", "b1"));
    seen_.clear();
    gate_.open();
    db_.settle();
    std::erase_if(seen_, [](const auto& each) { return each.ends_with("b1"); });
    EXPECT_THAT(seen_, ElementsAre("end of a1", "a2", "end of a2", "a3", "end of a3"));
    EXPECT_EQ(messages(), 0U);
    stop(run);
}

TEST_F(TransportWorker, GivesTheMessageAndItsPayload)
{
    publish("a", "7");
    const auto handler = [this](message& held, int number) -> asio::awaitable<void> {
        seen_.push_back(std::string(held.group()) + std::to_string(number + 1));
        co_return;
    };
    auto run = work(handler);
    EXPECT_THAT(seen_, ElementsAre("a8"));
    stop(run);
}

TEST_F(TransportWorker, GivesBackWhatHasFailedWithAGrowingPause)
{
    publish("a", "1");
    publish("a", "2");
    int failures = 0;
    const auto handler = [&](std::string_view payload) -> asio::awaitable<void> {
        seen_.emplace_back(payload);
        if (payload == "1" && ++failures <= 6) {
            throw std::runtime_error("no");
        }
        co_return;
    };
    auto run = work(handler, {.backoff = {.first = 1s, .most = 8s}});
    // At most 1 + 2 + 4 + 8 + 8 + 8 s, and with as many chances hardly ever less than 1 s.
    for (int i = 0; i < 320 && seen_.size() < 8; ++i) {
        db_.advance(100ms);
    }
    EXPECT_THAT(seen_, ElementsAre("1", "1", "1", "1", "1", "1", "1", "2"));
    EXPECT_EQ(messages(), 0U);
    stop(run);
}

TEST_F(TransportWorker, ParksWhatFailsForGoodAndTheOthersGoOn)
{
    publish("a", "not a number");
    publish("a", "1");
    publish("b", "2");
    int sum = 0;
    const auto handler = [&](int number) -> asio::awaitable<void> {
        sum += number;
        co_return;
    };
    auto run = work(handler, {.backoff = {.first = 1s, .most = 600s}});
    EXPECT_EQ(sum, 2);
    EXPECT_EQ(messages(), 2U);
    ASSERT_EQ(warnings_->size(), 1U);
    EXPECT_THAT(warnings_->front(), HasSubstr("message 1 has failed for good"));
    db_.advance(599s);
    EXPECT_EQ(warnings_->size(), 1U);
    db_.advance(2s);
    EXPECT_EQ(warnings_->size(), 2U) << "it was tried again";
    EXPECT_EQ(sum, 2);
    stop(run);
}

TEST_F(TransportWorker, PutsOffWhatIsSnoozed)
{
    publish("a", "1");
    int calls = 0;
    const auto handler = [&](message&) -> asio::awaitable<void> {
        co_await asio::this_coro::executor;
        if (++calls == 1) {
            throw snooze(1500ms);
        }
    };
    auto run = work(handler);
    db_.advance(1400ms);
    EXPECT_EQ(calls, 1);
    db_.advance(200ms);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(messages(), 0U);
    stop(run);
}

TEST_F(TransportWorker, ExtendsItsLeases)
{
    publish("a", "1");
    publish("b", "2");
    const auto handler = [this](message&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = work(handler);
    for (int i = 0; i < 12; ++i) {
        db_.advance(10s);
    }
    EXPECT_EQ(gate_.waiting(), 2);
    EXPECT_FALSE(db_.run(mails_.try_claim()));
    gate_.open();
    db_.settle();
    EXPECT_EQ(messages(), 0U);
    stop(run);
}

TEST_F(TransportWorker, CancelsTheHandlerOfALostLease)
{
    publish("a", "1");
    const auto handler = [this](message&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = work(handler);
    other_.sql("UPDATE harel_transport_messages SET locked_by = 'another'");
    db_.advance(10s);
    EXPECT_EQ(gate_.waiting(), 0);
    EXPECT_EQ(value("SELECT locked_by FROM harel_transport_messages"), "another");
    stop(run);
}

TEST_F(TransportWorker, GivesBackEverythingWhenItIsStopped)
{
    publish("a", "1");
    publish("b", "2");
    const auto handler = [this](message&) -> asio::awaitable<void> { co_await gate_.pass(); };
    auto run = work(handler, {.soft_deadline = 0s});
    EXPECT_FALSE(db_.run(mails_.try_claim()));
    stop(run);
    EXPECT_TRUE(db_.run(mails_.try_claim()));
    EXPECT_EQ(messages(), 2U);
}

TEST_F(TransportWorker, LeavesWhatTheHandlerHasSettledAlone)
{
    publish("a", "1");
    const auto handler = [](message& held) -> asio::awaitable<void> {
        EXPECT_TRUE(co_await held.nack(60s));
    };
    auto run = work(handler);
    EXPECT_EQ(messages(), 1U);
    EXPECT_FALSE(db_.run(mails_.try_claim()));
    stop(run);
}

} // namespace
