#include <skein/relay.hpp>

#include "api/claim_arguments.hpp"
#include "api/log/relay_run.hpp"

#include <skein/error.hpp>
#include <skein/stream.hpp>

#include <limits>
#include <string>
#include <utility>

namespace skein {

namespace {

/// One text for each name and topic.
std::string lock_of(std::string_view name, std::string_view topic)
{
    return "relay " + std::to_string(name.size()) + ':' + std::string(name) + " of " +
           std::string(topic);
}

clock::steady_time::duration checked_pause(duration pause, duration shortest, const char* argument)
{
    if (!(pause > duration::zero() && pause >= shortest)) {
        throw error(errc::invalid_argument,
                    std::string(argument) + ": " + std::to_string(pause.count()) +
                        " s is not accepted; more than zero is, and a longest_pause that is not "
                        "less than first_pause");
    }
    // Half of what can be counted: the pauses are doubled.
    constexpr clock::steady_time::duration longest{
        std::numeric_limits<clock::steady_time::rep>::max() / 2};
    return api::patience_of(pause).limit.value_or(longest);
}

} // namespace

relay::relay(std::shared_ptr<const api::relay_state> state) noexcept : state_(std::move(state)) {}

skein::relay stream::relay(std::string_view name, relay_options options) const
{
    const auto first = checked_pause(options.first_pause, duration::zero(), "first_pause");
    const auto longest = checked_pause(options.longest_pause, options.first_pause, "longest_pause");
    auto lock = api::make_named_lock_state(
        state_->engine, lock_of(name, topic()),
        {.ttl = options.lock_ttl, .create_schema = state_->create_schema});
    return skein::relay(std::make_shared<api::relay_state>(
        api::relay_state{state_, std::move(lock), std::string(name), first, longest}));
}

asio::awaitable<void> relay::run_into(sink taker) const
{
    state_->topic->engine->require_outside_callback();
    return api::run_relay(state_, std::move(taker));
}

} // namespace skein
