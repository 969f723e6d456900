#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"

#include <skein/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The lengths of time that lie at the edge of what can be said.
const duration long_lengths[] = {
    std::chrono::years{200},
    duration(std::chrono::nanoseconds::max()),
    duration(std::chrono::hours::max()),
    duration::max(),
    duration(infinite),
};

class TransportBadInput : public ::testing::Test {
protected:
    /// Expects misuse that is told at the call, with the name of the argument.
    template <class Function>
    static void expect_refused(Function&& function, const char* argument)
    {
        try {
            function();
            ADD_FAILURE() << argument << " was accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument));
            EXPECT_THAT(refused.what(), HasSubstr(argument));
            EXPECT_FALSE(refused.is_retryable());
        }
    }

    void expect_untouched()
    {
        EXPECT_FALSE(database_.run(transport_.try_claim()));
        EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_messages"), "0");
        EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_groups"), "0");
    }

    message claim(const claim_options& options = {})
    {
        database_.run(transport_.publish("g", "m"));
        return database_.run(transport_.claim(options));
    }

    support::manual_database database_;
    skein::transport transport_ = database_.database().transport();
    support::plain_connection file_{database_.path()};
};

TEST_F(TransportBadInput, PrioritiesOutOfRangeAreToldAtTheCall)
{
    for (const int priority : {-1, 5, std::numeric_limits<int>::max()}) {
        expect_refused(
            [&] { static_cast<void>(transport_.publish("g", "m", {.priority = priority})); },
            "priority");
        expect_refused([&] { static_cast<void>(transport_.try_claim({.min_priority = priority})); },
                       "min_priority");
        expect_refused([&] { static_cast<void>(transport_.claim({.min_priority = priority})); },
                       "min_priority");
        expect_refused(
            [&] { static_cast<void>(transport_.claim_within(1s, {.min_priority = priority})); },
            "min_priority");
    }
    const auto publish = [&](transaction& tx) {
        transport_.publish(tx, "g", "m", {.priority = 5});
    };
    EXPECT_THROW(database_.run(database_.database().transaction(publish)), error);
    expect_untouched();
}

TEST_F(TransportBadInput, VisibilitiesThatAreNoLengthAreToldAtTheCall)
{
    for (const duration visibility : {duration(-0.001), duration(not_a_number), duration(-infinite),
                                      duration::min(), duration(-1h)}) {
        expect_refused(
            [&] { static_cast<void>(database_.database().transport({.visibility = visibility})); },
            "visibility");
        expect_refused([&] { static_cast<void>(transport_.claim({.visibility = visibility})); },
                       "visibility");
        expect_refused([&] { static_cast<void>(transport_.try_claim({.visibility = visibility})); },
                       "visibility");
        expect_refused([&] { static_cast<void>(transport_.extend({}, visibility)); }, "visibility");
    }
    expect_untouched();
    message claimed = claim();
    expect_refused([&] { static_cast<void>(claimed.extend(-1s)); }, "visibility");
    EXPECT_EQ(claimed.expires_at(), clock::wall_time(130s)) << "the lease is as it was";
    EXPECT_TRUE(database_.run(claimed.ack()));
}

TEST_F(TransportBadInput, ALimitThatIsNoNumberIsToldAtTheCall)
{
    expect_refused([&] { static_cast<void>(transport_.claim_within(duration(not_a_number))); },
                   "limit");
}

TEST_F(TransportBadInput, ADelayThatIsNoNumberIsToldAndTheLeaseGoesOn)
{
    message claimed = claim();
    expect_refused([&] { static_cast<void>(claimed.nack(duration(not_a_number))); }, "delay");
    expect_refused([&] { static_cast<void>(transport_.nack({}, duration(not_a_number))); },
                   "delay");
    EXPECT_FALSE(database_.run(transport_.try_claim()));
    EXPECT_TRUE(database_.run(claimed.ack()));
}

TEST_F(TransportBadInput, LeasesMayBeAsLongAsOneLikes)
{
    for (const duration length : long_lengths) {
        message claimed = claim({.visibility = length});
        EXPECT_GT(claimed.expires_at(), clock::wall_time(std::chrono::years{100}));
        EXPECT_FALSE(database_.run(transport_.try_claim()));
        auto waiting = database_.start(transport_.claim_within(5s));
        database_.settle();
        database_.advance(5s);
        EXPECT_TRUE(waiting.is_done());
        EXPECT_FALSE(waiting.result());
        EXPECT_TRUE(database_.run(claimed.extend(length)));
        EXPECT_GT(claimed.expires_at(), clock::wall_time(std::chrono::years{100}));
        EXPECT_TRUE(database_.run(claimed.ack())) << length.count();
    }
}

TEST_F(TransportBadInput, ALeaseOfTheTransportsOwnMayBeAsLongAsOneLikes)
{
    for (const duration length : long_lengths) {
        const auto patient = database_.database().transport({.visibility = length});
        database_.run(patient.publish("g", "m"));
        message claimed = database_.run(patient.claim());
        EXPECT_FALSE(database_.run(patient.try_claim()));
        EXPECT_TRUE(database_.run(claimed.ack()));
    }
}

TEST_F(TransportBadInput, ParksMayBeAsLongAsOneLikes)
{
    int parked = 0;
    for (const duration length : long_lengths) {
        database_.run(transport_.publish("parked" + std::to_string(++parked), "parked"));
        message claimed = database_.run(transport_.claim());
        ASSERT_EQ(claimed.payload(), "parked");
        EXPECT_TRUE(database_.run(claimed.nack(length)));
        EXPECT_FALSE(database_.run(transport_.try_claim())) << length.count();
        auto waiting = database_.start(transport_.claim_within(5s));
        database_.settle();
        database_.advance(std::chrono::years{50} / 10);
        EXPECT_TRUE(waiting.is_done());
        EXPECT_FALSE(waiting.result()) << length.count();
    }
    EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_messages"
                          " WHERE locked_by = '__parked__' AND lock_expiry > 1e9"),
              std::to_string(parked));
}

TEST_F(TransportBadInput, ZeroAndNegativeDelaysAreAtOnce)
{
    for (const duration delay :
         {duration(0), duration(-1e-300), duration(-1h), -duration::max(), duration(-infinite)}) {
        message claimed = claim();
        EXPECT_TRUE(database_.run(claimed.nack(delay)));
        message again = database_.run(transport_.claim());
        EXPECT_TRUE(database_.run(again.ack()));
    }
}

TEST_F(TransportBadInput, TheSmallestLeaseAndDelayAreMoreThanNothing)
{
    message claimed = claim({.visibility = duration(std::numeric_limits<double>::denorm_min())});
    EXPECT_FALSE(database_.run(transport_.try_claim()));
    database_.advance(1ns * 1000);
    message again = database_.run(transport_.claim());
    EXPECT_FALSE(database_.run(claimed.ack()));
    EXPECT_TRUE(database_.run(again.nack(duration(std::numeric_limits<double>::denorm_min()))));
    EXPECT_FALSE(database_.run(transport_.try_claim()));
    database_.advance(1us);
    EXPECT_TRUE(database_.run(transport_.try_claim()));
}

TEST_F(TransportBadInput, APayloadLongerThanSqliteTakesIsToldAtTheCall)
{
    sqlite3_limit(database_.handle(), SQLITE_LIMIT_LENGTH, 10'000);
    database_.run(transport_.publish("small", "m"));
    const std::string large(20'000, 'x');
    try {
        database_.run(transport_.publish("g", large));
        ADD_FAILURE() << "published";
    } catch (const error& refused) {
        EXPECT_TRUE(refused.code() == make_error_code(errc::payload_too_large) ||
                    refused.sqlite_code() == SQLITE_TOOBIG)
            << refused.what();
    }
    EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_messages"), "1");
    EXPECT_EQ(file_.value("SELECT count(*) FROM harel_transport_groups"), "1");
}

TEST_F(TransportBadInput, APayloadOverTheDefaultLimitIsTooLarge)
{
    // Address space that costs no memory.
    constexpr std::size_t size = 1'000'000'001;
    void* const pages =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    try {
        const std::string_view large(static_cast<const char*>(pages), size);
        static_cast<void>(transport_.publish("g", large));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), make_error_code(errc::payload_too_large));
    }
    munmap(pages, size);
    expect_untouched();
}

TEST_F(TransportBadInput, ArgumentsAreOwnedFromTheCallOn)
{
    std::optional<support::operation<void>> publish;
    std::optional<support::operation<std::optional<message>>> claim;
    {
        std::string group = "a group whose name is not short at all";
        std::string payload = "a payload whose text is not short at all";
        std::string key = "a routing key whose text is not short at all";
        publish.emplace(database_.start(transport_.publish(group, payload, {.routing_key = key})));
        const std::string_view keys[] = {key};
        const std::string worker = "a worker whose name is not short at all";
        claim.emplace(
            database_.start(transport_.claim_within(1s, {.worker = worker, .routing_keys = keys})));
        group.assign(group.size(), '#');
        payload.assign(payload.size(), '#');
    }
    database_.settle();
    publish->result();
    const auto claimed = claim->result();
    ASSERT_TRUE(claimed);
    EXPECT_EQ(claimed->payload(), "a payload whose text is not short at all");
    EXPECT_EQ(claimed->group(), "a group whose name is not short at all");
    EXPECT_EQ(file_.value("SELECT locked_by LIKE 'a worker whose name is not short at all#%'"
                          " FROM harel_transport_messages"),
              "1");
}

TEST_F(TransportBadInput, AMomentOfTheWallClockBeforeTheEpochIsAMomentLikeAnyOther)
{
    database_.clock().set_wall(clock::wall_time(-1000s));
    message claimed = claim({.visibility = 10s});
    EXPECT_FALSE(database_.run(transport_.try_claim()));
    database_.advance(11s);
    message again = database_.run(transport_.claim());
    EXPECT_EQ(again.expires_at(), clock::wall_time(-959s));
    EXPECT_TRUE(database_.run(again.ack()));
}

} // namespace
