#include "transport/harness.hpp"

#include "support/plain_connection.hpp"

#include <skein/schema.hpp>

#include <chrono>
#include <utility>

namespace skein::conformance {

namespace {

constexpr const char* foreign_schema =
    "CREATE TABLE harel_transport_messages (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " group_id TEXT NOT NULL, event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL);"
    "CREATE TABLE harel_transport_groups (group_id TEXT PRIMARY KEY,"
    " last_claimed_at REAL NOT NULL DEFAULT 0.0, priority INT NOT NULL DEFAULT 0,"
    " routing_key TEXT);"
    "CREATE INDEX harel_transport_groups_by_last_claimed"
    " ON harel_transport_groups (last_claimed_at);"
    "CREATE INDEX harel_transport_messages_by_group ON harel_transport_messages (group_id, seq);"
    "CREATE INDEX harel_transport_groups_by_routing_key"
    " ON harel_transport_groups (routing_key, last_claimed_at)";

double seconds(clock::wall_time time)
{
    return duration(time.time_since_epoch()).count();
}

clock::wall_time wall(double time)
{
    const auto whole = std::chrono::round<clock::wall_time::duration>(duration(time));
    return clock::wall_time(whole);
}

/// `options` with what it refers to.
struct options_of {
    explicit options_of(const claim_request& request)
    {
        options.worker = request.worker;
        options.min_priority = request.min_priority;
        if (request.routing_keys) {
            keys.assign(request.routing_keys->begin(), request.routing_keys->end());
            options.routing_keys = std::span<const std::string_view>(keys);
        }
        if (request.visibility) {
            options.visibility = duration(*request.visibility);
        }
        options.or_without_key = request.or_without_key;
    }

    options_of(const options_of&) = delete;
    options_of& operator=(const options_of&) = delete;

    std::vector<std::string_view> keys;
    claim_options options;
};

} // namespace

template <usage Usage>
skein_harness<Usage>::skein_harness() : database_(std::make_unique<support::manual_database>())
{
    if (Usage == usage::on_foreign_schema) {
        support::plain_connection(database_->path()).sql(foreign_schema);
    }
    if (Usage == usage::on_external_schema) {
        const support::plain_connection owner(database_->path());
        for (const std::string& each : schema::transport()) {
            owner.sql(each);
        }
    }
    make_transport();
}

template <usage Usage>
skein_harness<Usage>::skein_harness(support::manual_database& other)
    : database_(std::make_unique<support::manual_database>(
          other.path(), support::manual_database::quick(), other.clock_to_share()))
{
    make_transport();
}

template <usage Usage>
void skein_harness<Usage>::make_transport(bool fair_turns)
{
    transport_ =
        database_->database().transport({.create_schema = owns_schema, .fair_turns = fair_turns});
}

template <usage Usage>
void skein_harness<Usage>::take_fair_turns()
{
    make_transport(true);
}

template <usage Usage>
void skein_harness<Usage>::publish(std::string_view group, std::string_view payload, int priority,
                                   std::optional<std::string_view> routing_key)
{
    database_->run(
        transport_->publish(group, payload, {.priority = priority, .routing_key = routing_key}));
}

template <usage Usage>
held skein_harness<Usage>::hold(skein::message claimed)
{
    held result;
    result.payload = claimed.payload();
    result.group = claimed.group();
    result.expires_at = seconds(claimed.expires_at());
    if (Usage == usage::by_fence) {
        result.fence = claimed.detach();
    } else {
        // Only to tell a stale fence by: the token is the handle's secret.
        result.fence = message_fence(claimed.seq(), result.group, "unknown");
        result.message = std::make_shared<skein::message>(std::move(claimed));
    }
    kept_.push_back(result);
    return result;
}

template <usage Usage>
std::optional<held> skein_harness<Usage>::claim(const claim_request& request)
{
    const options_of wanted(request);
    std::optional<skein::message> claimed = database_->run(transport_->try_claim(wanted.options));
    return claimed ? std::optional<held>(hold(*std::move(claimed))) : std::nullopt;
}

template <usage Usage>
std::vector<std::string> skein_harness<Usage>::claim_payloads(std::size_t most,
                                                              const claim_request& request)
{
    const options_of wanted(request);
    std::vector<message> claimed = database_->run(transport_->try_claim_many(most, wanted.options));
    std::vector<std::string> payloads;
    for (message& each : claimed) {
        payloads.push_back(hold(std::move(each)).payload);
    }
    return payloads;
}

template <usage Usage>
std::string skein_harness<Usage>::claim_payload(const claim_request& request)
{
    const std::optional<held> claimed = claim(request);
    return claimed ? claimed->payload : "none";
}

template <usage Usage>
std::vector<std::string> skein_harness<Usage>::serve(int count, const claim_request& request)
{
    std::vector<std::string> served;
    for (int each = 0; each < count; ++each) {
        const std::optional<held> claimed = claim(request);
        served.push_back(claimed ? claimed->payload : "none");
        if (claimed) {
            EXPECT_TRUE(ack(*claimed));
        }
    }
    return served;
}

template <usage Usage>
support::operation<message> skein_harness<Usage>::start_claim(const claim_request& request)
{
    const options_of wanted(request);
    auto started = database_->start(transport_->claim(wanted.options));
    database_->settle();
    return started;
}

template <usage Usage>
support::operation<std::optional<message>>
skein_harness<Usage>::start_claim_within(double limit, const claim_request& request)
{
    const options_of wanted(request);
    auto started = database_->start(transport_->claim_within(duration(limit), wanted.options));
    database_->settle();
    return started;
}

template <usage Usage>
bool skein_harness<Usage>::ack(const held& claimed)
{
    return database_->run(claimed.message ? claimed.message->ack()
                                          : transport_->ack(claimed.fence));
}

template <usage Usage>
bool skein_harness<Usage>::nack(const held& claimed, double delay)
{
    return database_->run(claimed.message ? claimed.message->nack(duration(delay))
                                          : transport_->nack(claimed.fence, duration(delay)));
}

template <usage Usage>
bool skein_harness<Usage>::extend(const held& claimed, double visibility)
{
    return database_->run(claimed.message
                              ? claimed.message->extend(duration(visibility))
                              : transport_->extend(claimed.fence, duration(visibility)));
}

template <usage Usage>
bool skein_harness<Usage>::ack_fence(const message_fence& fence)
{
    return database_->run(transport_->ack(fence));
}

template <usage Usage>
bool skein_harness<Usage>::nack_fence(const message_fence& fence, double delay)
{
    return database_->run(transport_->nack(fence, duration(delay)));
}

template <usage Usage>
void skein_harness<Usage>::set_time(double then)
{
    database_->clock().advance(wall(then) - database_->clock().wall_now());
    database_->settle();
}

template <usage Usage>
void skein_harness<Usage>::set_wall(double then)
{
    database_->clock().set_wall(wall(then));
    database_->settle();
}

template <usage Usage>
void skein_harness<Usage>::reopen()
{
    database_->reopen();
    make_transport();
}

template <usage Usage>
std::unique_ptr<skein_harness<Usage>> skein_harness<Usage>::beside()
{
    return std::unique_ptr<skein_harness>(new skein_harness(*database_));
}

template class skein_harness<usage::by_message>;
template class skein_harness<usage::by_fence>;
template class skein_harness<usage::on_foreign_schema>;
template class skein_harness<usage::on_external_schema>;

} // namespace skein::conformance
