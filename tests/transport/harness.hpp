#pragma once

#include "support/manual_database.hpp"

#include <skein/message.hpp>
#include <skein/transport.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::conformance {

/// What a claim of the suite accepts.
struct claim_request {
    std::string worker = "w1";
    int min_priority = 0;
    std::optional<std::vector<std::string>> routing_keys;
    std::optional<double> visibility; ///< seconds
    bool or_without_key = false;
};

[[nodiscard]] inline claim_request at_least(int priority)
{
    claim_request request;
    request.min_priority = priority;
    return request;
}

[[nodiscard]] inline claim_request of_keys(std::vector<std::string> keys, int min_priority = 0)
{
    claim_request request;
    request.routing_keys = std::move(keys);
    request.min_priority = min_priority;
    return request;
}

[[nodiscard]] inline claim_request for_seconds(double visibility)
{
    claim_request request;
    request.visibility = visibility;
    return request;
}

[[nodiscard]] inline claim_request by_worker(std::string worker, double visibility = 30)
{
    claim_request request;
    request.worker = std::move(worker);
    request.visibility = visibility;
    return request;
}

/// A message that was claimed, and what finishes it. The harness keeps it until its own end, so
/// that no lease is given back because a test forgot it.
struct held {
    std::string payload;
    std::string group;
    double expires_at = 0;
    message_fence fence;
    std::shared_ptr<skein::message> message; ///< none: finished by the fence
};

/// How a skein transport is used: the ways that must come to the same.
enum class usage {
    by_message,         ///< messages are finished by their handles
    by_fence,           ///< handles are detached at once; messages are finished by their fences
    on_foreign_schema,  ///< the tables are somebody else's and lack what skein adds
    on_external_schema, ///< the tables are somebody else's, made with what skein::schema hands out
};

/// One transport with its time in the test's hands: what the suite needs of an implementation. A
/// fresh one is empty and its clock stands at 100 s; leases are of 30 s unless a claim says more.
///
/// Another implementation is held to the suite by a class with these functions, see transports.hpp.
template <usage Usage>
class skein_harness {
public:
    skein_harness();

    void publish(std::string_view group, std::string_view payload, int priority = 0,
                 std::optional<std::string_view> routing_key = std::nullopt);

    /// From now on, groups that a publish creates wait behind the others.
    void take_fair_turns();

    /// Claims now or not at all.
    std::optional<held> claim(const claim_request& request = {});

    /// The payloads of a claim of several, now or not at all.
    std::vector<std::string> claim_payloads(std::size_t most, const claim_request& request = {});

    /// The payload of such a claim, or "none".
    std::string claim_payload(const claim_request& request = {});

    /// Claims and acknowledges that often: the payloads, "none" where there was none.
    std::vector<std::string> serve(int count, const claim_request& request = {});

    /// A claim that waits without limit, or for at most `limit` seconds.
    support::operation<message> start_claim(const claim_request& request = {});
    support::operation<std::optional<message>>
    start_claim_within(double limit, const claim_request& request = {});

    bool ack(const held& claimed);
    bool nack(const held& claimed, double delay = 0);
    bool extend(const held& claimed, double visibility);

    bool ack_fence(const message_fence& fence);
    bool nack_fence(const message_fence& fence, double delay = 0);

    /// Lets the time pass until then, in seconds, for the wall clock and for whoever waits.
    void set_time(double then);

    /// Steps the wall clock alone.
    void set_wall(double then);

    /// Ends the transport and opens it again, the time going on.
    void reopen();

    /// What another process would have: the same messages and time, nothing else shared.
    std::unique_ptr<skein_harness> beside();

    [[nodiscard]] support::manual_database& database() noexcept { return *database_; }
    [[nodiscard]] skein::transport& transport() noexcept { return *transport_; }

private:
    static constexpr bool owns_schema = Usage == usage::by_message || Usage == usage::by_fence;

    explicit skein_harness(support::manual_database& other);
    void make_transport(bool fair_turns = false);
    held hold(skein::message claimed);

    std::unique_ptr<support::manual_database> database_;
    std::optional<skein::transport> transport_;
    std::vector<held> kept_;
};

} // namespace skein::conformance
