#include "transport/transports.hpp"

#include <skein/error.hpp>

#include <limits>

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;

constexpr double longest = std::numeric_limits<double>::max();

template <class Harness>
class TransportWaiting : public transport_suite<Harness> {
protected:
    /// What a claim that has been started has brought: a payload, "none" or "waits".
    template <class Result>
    static std::string outcome(support::operation<Result>& claim)
    {
        if (!claim.is_done()) {
            return "waits";
        }
        Result result = claim.result();
        if constexpr (std::is_same_v<Result, message>) {
            return kept(std::move(result));
        } else {
            return result ? kept(*std::move(result)) : "none";
        }
    }

    /// The lease is kept: dropping the message would give it back.
    static std::string kept(message claimed)
    {
        std::string payload(claimed.payload());
        static_cast<void>(claimed.detach());
        return payload;
    }

    /// Lets the database see what others have committed.
    void watch() { this->queue.database().advance(std::chrono::milliseconds{1}); }
};

TYPED_TEST_SUITE(TransportWaiting, transports, transport_names);

TYPED_TEST(TransportWaiting, ClaimReturnsWhatIsThere)
{
    this->queue.publish("g", "m");
    auto claim = this->queue.start_claim();
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimWaitsForAPublish)
{
    auto claim = this->queue.start_claim();
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_time(100'000);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.publish("g", "m");
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimSeesWhatOthersPublish)
{
    auto claim = this->queue.start_claim();
    this->other().publish("g", "m");
    this->watch();
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimSeesTheNextMessageOnceTheOneBeforeIsAcknowledged)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    const auto first = this->queue.claim().value();
    auto claim = this->queue.start_claim();
    EXPECT_EQ(this->outcome(claim), "waits");
    EXPECT_TRUE(this->queue.ack(first));
    EXPECT_EQ(this->outcome(claim), "e2");
}

TYPED_TEST(TransportWaiting, ClaimSeesThatOthersAcknowledge)
{
    this->queue.publish("g", "e1");
    this->queue.publish("g", "e2");
    const auto first = this->other().claim().value();
    auto claim = this->queue.start_claim();
    EXPECT_EQ(this->outcome(claim), "waits");
    EXPECT_TRUE(this->other().ack(first));
    this->watch();
    EXPECT_EQ(this->outcome(claim), "e2");
}

TYPED_TEST(TransportWaiting, ClaimSeesWhatIsGivenBack)
{
    this->queue.publish("g", "m");
    const auto first = this->queue.claim().value();
    auto claim = this->queue.start_claim();
    EXPECT_TRUE(this->queue.nack(first));
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimWakesWhenALeaseEnds)
{
    this->queue.publish("g", "m");
    this->queue.claim(for_seconds(10));
    auto claim = this->queue.start_claim();
    this->queue.set_time(110);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_time(110.000002);
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimWakesWhenALeaseOfAnotherEnds)
{
    this->queue.publish("g", "m");
    auto claim = this->queue.start_claim_within(0);
    EXPECT_EQ(this->outcome(claim), "m");
    auto waiting = this->queue.start_claim();
    this->queue.set_time(110);
    this->other().publish("h", "h1");
    EXPECT_EQ(this->other().claim_payload(for_seconds(5)), "h1");
    this->watch();
    EXPECT_EQ(this->outcome(waiting), "waits");
    this->queue.set_time(115.000002);
    EXPECT_EQ(this->outcome(waiting), "h1");
}

TYPED_TEST(TransportWaiting, ClaimWakesWhenAParkEnds)
{
    this->queue.publish("g", "m");
    EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), 5));
    auto claim = this->queue.start_claim();
    this->queue.set_time(105);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_time(105.000002);
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimWakesEarlierWhenALeaseIsShortened)
{
    this->queue.publish("g", "m");
    const auto first = this->queue.claim(for_seconds(1000)).value();
    auto claim = this->queue.start_claim();
    EXPECT_TRUE(this->queue.extend(first, 10));
    this->queue.set_time(110.000002);
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimSleepsOnWhenALeaseIsExtended)
{
    this->queue.publish("g", "m");
    const auto first = this->queue.claim(for_seconds(10)).value();
    auto claim = this->queue.start_claim();
    this->queue.set_time(109);
    EXPECT_TRUE(this->queue.extend(first, 10));
    this->queue.set_time(119);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_time(119.000002);
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimsAreServedInTheOrderTheyCame)
{
    auto first = this->queue.start_claim();
    auto second = this->queue.start_claim();
    auto third = this->queue.start_claim();
    this->queue.publish("a", "a");
    EXPECT_EQ(this->outcome(first), "a");
    EXPECT_EQ(this->outcome(second), "waits");
    this->queue.publish("b", "b");
    EXPECT_EQ(this->outcome(second), "b");
    this->queue.publish("c", "c");
    EXPECT_EQ(this->outcome(third), "c");
}

TYPED_TEST(TransportWaiting, ChoosyClaimsHideNobody)
{
    auto high = this->queue.start_claim(at_least(3));
    auto keyed = this->queue.start_claim(of_keys({"a"}));
    auto nothing = this->queue.start_claim(of_keys({}));
    auto any = this->queue.start_claim();
    this->queue.publish("g", "plain");
    EXPECT_EQ(this->outcome(any), "plain");
    EXPECT_EQ(this->outcome(high), "waits");
    this->queue.publish("h", "keyed", 0, "a");
    EXPECT_EQ(this->outcome(keyed), "keyed");
    this->queue.publish("i", "high", 3);
    EXPECT_EQ(this->outcome(high), "high");
    EXPECT_EQ(this->outcome(nothing), "waits");
}

TYPED_TEST(TransportWaiting, EveryWaiterIsServedByOneBurst)
{
    std::vector<support::operation<message>> claims;
    for (int each = 0; each < 20; ++each) {
        claims.push_back(this->queue.start_claim());
    }
    for (int each = 0; each < 20; ++each) {
        this->other().publish("g" + std::to_string(each), std::to_string(each));
    }
    this->watch();
    std::vector<std::string> served;
    for (auto& each : claims) {
        served.push_back(this->outcome(each));
    }
    std::vector<std::string> all;
    for (int each = 0; each < 20; ++each) {
        all.push_back(std::to_string(each));
    }
    EXPECT_THAT(served, ::testing::ElementsAreArray(all));
}

TYPED_TEST(TransportWaiting, ACancelledClaimTakesNothingAndHidesNobody)
{
    auto cancelled = this->queue.start_claim();
    auto next = this->queue.start_claim();
    cancelled.cancel();
    this->queue.database().settle();
    EXPECT_EQ(cancelled.error(), asio::error::operation_aborted);
    this->queue.publish("g", "m");
    EXPECT_EQ(this->outcome(next), "m");
}

TYPED_TEST(TransportWaiting, ClaimWithinGivesUpAtItsLimit)
{
    auto claim = this->queue.start_claim_within(5);
    this->queue.set_time(104.999);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_time(105);
    EXPECT_EQ(this->outcome(claim), "none");
    this->queue.publish("g", "m");
    EXPECT_EQ(this->queue.claim_payload(), "m");
}

TYPED_TEST(TransportWaiting, ClaimWithinReturnsWhatComesInTime)
{
    auto claim = this->queue.start_claim_within(5);
    this->queue.set_time(104);
    this->queue.publish("g", "m");
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, ClaimWithinNoTimeIsNowOrNothing)
{
    for (const double limit : {0.0, -1.0, -longest, -std::numeric_limits<double>::infinity()}) {
        auto empty = this->queue.start_claim_within(limit);
        EXPECT_EQ(this->outcome(empty), "none") << limit;
        this->queue.publish(std::to_string(limit), "m");
        auto full = this->queue.start_claim_within(limit);
        EXPECT_EQ(this->outcome(full), "m") << limit;
    }
}

TYPED_TEST(TransportWaiting, ClaimWithinTheLongestTimeHasNoLimit)
{
    const double years = duration(std::chrono::years{200}).count();
    for (const double limit : {years, longest, std::numeric_limits<double>::infinity()}) {
        auto claim = this->queue.start_claim_within(limit);
        this->queue.set_time(duration(std::chrono::years{50}).count());
        EXPECT_EQ(this->outcome(claim), "waits") << limit;
        this->queue.publish(std::to_string(limit), "m");
        EXPECT_EQ(this->outcome(claim), "m") << limit;
    }
}

TYPED_TEST(TransportWaiting, ALimitIsMeasuredByTheSteadyClock)
{
    auto claim = this->queue.start_claim_within(5);
    this->queue.set_wall(10'000);
    EXPECT_EQ(this->outcome(claim), "waits");
    this->queue.set_wall(10);
    this->queue.database().advance(std::chrono::seconds{5});
    EXPECT_EQ(this->outcome(claim), "none");
}

TYPED_TEST(TransportWaiting, AStepOfTheWallClockIsSeenBeforeLong)
{
    this->queue.publish("g", "m");
    this->queue.claim(for_seconds(3'600));
    auto claim = this->queue.start_claim();
    this->queue.set_wall(10'000);
    // Nothing tells a process that its wall clock has stepped: it looks again from time to time.
    this->queue.database().advance(std::chrono::minutes{1});
    EXPECT_EQ(this->outcome(claim), "m");
}

TYPED_TEST(TransportWaiting, CloseEndsEveryClaim)
{
    auto claim = this->queue.start_claim();
    auto within = this->queue.start_claim_within(1000);
    this->queue.database().run(this->queue.database().database().close());
    EXPECT_EQ(claim.error(), make_error_code(errc::closed));
    EXPECT_EQ(within.error(), make_error_code(errc::closed));
}

TYPED_TEST(TransportWaiting, CloseIdempotent)
{
    this->queue.publish("g", "m");
    const auto claimed = this->queue.claim().value();
    auto& database = this->queue.database();
    database.run(database.database().close());
    database.run(database.database().close());
    const auto code = [](auto&& function) {
        try {
            function();
        } catch (const error& refused) {
            return refused.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(code([&] { this->queue.publish("g", "m"); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { this->queue.claim(); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { this->queue.ack(claimed); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { this->queue.nack(claimed); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { this->queue.extend(claimed, 10); }), make_error_code(errc::closed));
    EXPECT_EQ(this->other().claim_payload(), "none") << "the lease goes on";
}

} // namespace

} // namespace skein::conformance
