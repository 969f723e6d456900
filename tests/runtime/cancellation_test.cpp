#include "runtime/running_queue.hpp"

#include <skein/transaction.hpp>

#include <SQLiteCpp/Database.h>

#include <map>

namespace {

using namespace std::chrono_literals;
using skein::message;
using skein::transaction;
using skein::support::operation;

asio::awaitable<void> claim_into(skein::transport queue, std::optional<message>& kept)
{
    message claimed = co_await queue.claim();
    kept.emplace(std::move(claimed));
}

asio::awaitable<void> claim_within_into(skein::transport queue, skein::duration limit,
                                        std::optional<message>& kept)
{
    std::optional<message> claimed = co_await queue.claim_within(limit);
    kept = std::move(claimed);
}

asio::awaitable<void> expect_true(asio::awaitable<bool> answer)
{
    const bool is_true = co_await std::move(answer);
    EXPECT_TRUE(is_true);
}

/// One operation, and a question to the file whether it has happened.
struct trial {
    std::function<asio::awaitable<void>()> start;
    std::function<bool()> has_happened;
};

constexpr const char* kinds[] = {"publish", "transaction", "read",      "ack",         "nack",
                                 "extend",  "claim",       "try_claim", "claim_within"};

class Cancellation
    : public skein::support::running_queue,
      public testing::WithParamInterface<std::tuple<const char*, asio::cancellation_type>> {
protected:
    trial make(std::string_view kind)
    {
        if (kind == "publish") {
            return {[this] { return queue_.publish("new", "new"); },
                    [this] { return count("group_id = 'new'") == "1"; }};
        }
        if (kind == "transaction") {
            return {[this] { return db_.database().transaction(insert_); },
                    [this] { return other_.value("SELECT count(*) FROM t") == "1"; }};
        }
        if (kind == "read") {
            was_read_ = false;
            return {[this] { return db_.database().read(look_); }, [this] { return was_read_; }};
        }
        publish("m");
        if (kind == "claim") {
            return {[this] { return claim_into(queue_, kept_); },
                    [this] { return leased() == "1"; }};
        }
        if (kind == "try_claim" || kind == "claim_within") {
            const auto limit = kind == "try_claim" ? 0s : 10s;
            return {[this, limit] { return claim_within_into(queue_, limit, kept_); },
                    [this] { return leased() == "1"; }};
        }
        kept_.emplace(db_.run(queue_.claim()));
        if (kind == "ack") {
            return {[this] { return expect_true(kept_->ack()); },
                    [this] { return count("locked_by IS NOT NULL") == "0"; }};
        }
        if (kind == "nack") {
            return {[this] { return expect_true(kept_->nack()); },
                    [this] { return leased() == "0"; }};
        }
        return {[this] { return expect_true(kept_->extend(1000s)); },
                [this] { return count("lock_expiry > 500") == "1"; }};
    }

    /// Either cancelled with no effect, or done with a result; never both, and never neither.
    void expect_one_or_the_other(const operation<void>& tried, const trial& what)
    {
        ASSERT_TRUE(tried.is_done());
        const bool has_happened = what.has_happened();
        if (tried.has_failed()) {
            EXPECT_EQ(tried.error(), asio::error::operation_aborted);
            EXPECT_FALSE(has_happened);
        } else {
            EXPECT_TRUE(has_happened);
        }
    }

    /// No message stays leased to nobody.
    void clear()
    {
        kept_.reset();
        db_.settle();
        other_.sql("DELETE FROM harel_transport_messages; DELETE FROM harel_transport_groups;"
                   " DELETE FROM t");
        db_.advance(1ms);
    }

    std::string count(const std::string& which)
    {
        return other_.value("SELECT count(*) FROM harel_transport_messages WHERE " + which);
    }

    std::optional<message> kept_;
    bool was_read_ = false;
    const std::function<void(transaction&)> insert_ = [](transaction& tx) {
        tx.database().exec("INSERT INTO t VALUES (1)");
    };
    const std::function<void(const SQLite::Database&)> look_ = [this](const SQLite::Database&) {
        was_read_ = true;
    };
};

TEST_P(Cancellation, HasNoEffectOrComesTooLateAtEveryPoint)
{
    const auto [kind, type] = GetParam();
    std::map<bool, int> outcomes;
    bool is_done_before = false;
    for (int point = 0; !is_done_before; ++point) {
        SCOPED_TRACE("after " + std::to_string(point) + " steps");
        const trial what = make(kind);
        auto tried = db_.start(what.start());
        db_.context().restart();
        for (int step = 0; step < point; ++step) {
            db_.context().poll_one();
        }
        is_done_before = tried.is_done();
        tried.cancel(type);
        db_.settle();
        expect_one_or_the_other(tried, what);
        ++outcomes[tried.has_failed()];
        clear();
    }
    EXPECT_GT(outcomes[true], 0) << "it was never in time";
    EXPECT_GT(outcomes[false], 0) << "it was never too late";
}

TEST_P(Cancellation, HasNoEffectWhileAnotherHoldsTheLock)
{
    const auto [kind, type] = GetParam();
    const trial what = make(kind);
    other_.sql("BEGIN IMMEDIATE");
    auto tried = db_.start(what.start());
    db_.advance(10ms);
    const bool needs_no_lock = tried.is_done();
    tried.cancel(type);
    db_.settle();
    EXPECT_TRUE(tried.is_done());
    EXPECT_NE(tried.has_failed(), needs_no_lock);
    other_.sql("COMMIT");
    for (int each = 0; each < 5; ++each) {
        db_.advance(1ms);
    }
    expect_one_or_the_other(tried, what);
}

INSTANTIATE_TEST_SUITE_P(Every, Cancellation,
                         testing::Combine(testing::ValuesIn(kinds),
                                          testing::Values(asio::cancellation_type::terminal,
                                                          asio::cancellation_type::partial,
                                                          asio::cancellation_type::total)));

class CancelledWaiter : public skein::support::running_queue {};
class CancelledOperation : public skein::support::running_queue {};

TEST_F(CancelledWaiter, TakesNothing)
{
    auto waiting = start_claim();
    db_.settle();
    waiting.cancel(asio::cancellation_type::total);
    db_.settle();
    EXPECT_EQ(waiting.error(), asio::error::operation_aborted);
    publish("m");
    EXPECT_EQ(leased(), "0");
    EXPECT_EQ(peek(), "m");
}

TEST_F(CancelledWaiter, HandsItsWakeUpOnAtEveryPoint)
{
    bool is_done_before = false;
    for (int point = 0; !is_done_before; ++point) {
        SCOPED_TRACE("after " + std::to_string(point) + " steps");
        auto first = start_claim();
        db_.settle();
        auto second = start_claim();
        db_.settle();
        const auto published = start_publish("m");
        db_.context().restart();
        for (int step = 0; step < point; ++step) {
            db_.context().poll_one();
        }
        is_done_before = first.is_done();
        first.cancel();
        db_.settle();
        ASSERT_TRUE(first.is_done());
        EXPECT_EQ(first.has_failed(), second.is_done());
        const auto kept = (first.has_failed() ? second : first).result().detach();
        second.cancel();
        db_.settle();
        other_.sql("DELETE FROM harel_transport_messages; DELETE FROM harel_transport_groups");
    }
}

TEST_F(CancelledWaiter, AtTheEndOfItsLimitGetsOneAnswer)
{
    bool is_done_before = false;
    for (int point = 0; !is_done_before; ++point) {
        auto waiting = db_.start(queue_.claim_within(1s));
        db_.settle();
        db_.clock().advance(1s);
        db_.context().restart();
        for (int step = 0; step < point; ++step) {
            db_.context().poll_one();
        }
        is_done_before = waiting.is_done();
        waiting.cancel();
        db_.settle();
        ASSERT_TRUE(waiting.is_done());
        if (!waiting.has_failed()) {
            EXPECT_FALSE(waiting.result());
        }
    }
}

TEST_F(CancelledWaiter, WhileItsBatchRunsHandsItsWakeUpOn)
{
    auto first = start_claim();
    db_.settle();
    auto second = start_claim();
    db_.settle();
    auto work = start_transaction([&](transaction& tx) {
        first.cancel();
        queue_.publish(tx, "g", "m");
    });
    db_.settle();
    EXPECT_FALSE(work.has_failed());
    EXPECT_EQ(first.error(), asio::error::operation_aborted);
    ASSERT_TRUE(second.is_done());
    EXPECT_EQ(second.result().payload(), "m");
}

TEST_F(CancelledWaiter, DoesNotKeepTheOthersFromBeingServed)
{
    std::vector<operation<message>> waiting;
    for (int each = 0; each < 100; ++each) {
        waiting.push_back(start_claim());
    }
    db_.settle();
    std::vector<operation<void>> published;
    for (int each = 0; each < 50; ++each) {
        waiting[static_cast<std::size_t>(2 * each)].cancel();
        published.push_back(start_publish("m", std::to_string(each)));
    }
    db_.settle();
    for (std::size_t each = 0; each < waiting.size(); ++each) {
        EXPECT_TRUE(waiting[each].is_done());
        EXPECT_EQ(waiting[each].has_failed(), each % 2 == 0);
    }
    EXPECT_EQ(leased(), "50");
}

TEST_F(CancelledOperation, WhileItsBatchRunsDoesNothing)
{
    std::optional<operation<void>> second;
    const auto first = start_transaction([&](auto&) { second->cancel(); });
    second = start_publish("cancelled");
    auto third = start_publish("kept");
    db_.settle();
    EXPECT_FALSE(first.has_failed());
    EXPECT_EQ(second->error(), asio::error::operation_aborted);
    EXPECT_FALSE(third.has_failed());
    EXPECT_EQ(payloads(), std::vector<std::string>{"kept"});
}

} // namespace
