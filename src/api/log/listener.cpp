#include <skein/listener.hpp>

#include "api/claim_arguments.hpp"
#include "api/log/listener_place.hpp"
#include "api/seconds.hpp"
#include "api/small_unit.hpp"
#include "api/table_reading.hpp"

#include <algorithm>

namespace skein {

namespace {

// What a listener reads at once; the rest of it waits in memory for the calls that take it.
constexpr std::size_t page = 100;

/// Behind everything that is, or was, in the channel. Not behind everything in the file: those who
/// have listened for longer, and are told of nothing any more, are at this place, too.
std::int64_t end_of_channel(store::notifications& there, const std::string& channel)
{
    return std::max(there.newest(channel), there.newest_removed(channel).value_or(0));
}

asio::awaitable<std::optional<notification>>
start_next(const std::shared_ptr<api::listener_place>& place, runtime::patience how_long)
{
    place->log().engine->require_outside_callback();
    return api::listener_place::next(place, how_long);
}

asio::awaitable<notification> expect_note(asio::awaitable<std::optional<notification>> wait)
{
    std::optional<notification> note = co_await std::move(wait);
    co_return *std::move(note);
}

} // namespace

asio::awaitable<std::optional<notification>>
api::listener_place::next(std::shared_ptr<listener_place> self, runtime::patience how_long)
{
    log_follower<channel_log>& follower = self->follower_;
    const log_follower<channel_log>::turn mine(follower);
    if (follower.is_empty()) {
        co_await follower.fetch(page, how_long);
    } else {
        co_await follower.suspend_once();
    }
    std::optional<notification> note;
    for (store::notification& each : follower.take(1)) {
        note = {each.id, std::move(each.payload), from_seconds(each.created_at)};
    }
    co_return note;
}

asio::awaitable<listener> api::listener_place::listen(std::shared_ptr<const channel> log)
{
    // Where the tables and all of our additions are there, nothing need be written.
    const auto look = [log](store::notifications& there, std::int64_t /*now*/) {
        const bool is_good = !log->create_schema || log->store->has_additions();
        return is_good ? std::optional(end_of_channel(there, log->name)) : std::nullopt;
    };
    std::optional<std::int64_t> end =
        co_await read_tables(log->engine, log->store, log->create_schema, look);
    if (!end) {
        const auto make = [log](runtime::batch& batch) {
            return end_of_channel(log->store->ready(batch, true), log->name);
        };
        end = co_await write(log->engine, make);
    }
    co_return listener(std::make_shared<listener_place>(log, *end));
}

listener::listener(std::shared_ptr<api::listener_place> place) noexcept : place_(std::move(place))
{
}

listener::listener(listener&& other) noexcept = default;
listener& listener::operator=(listener&& other) noexcept = default;
listener::~listener() = default;

std::string_view listener::channel() const noexcept
{
    return place_->log().name;
}

asio::awaitable<notification> listener::next()
{
    return expect_note(start_next(place_, {}));
}

asio::awaitable<std::optional<notification>> listener::next_within(duration limit)
{
    return start_next(place_, api::patience_of(limit));
}

asio::awaitable<std::optional<notification>> listener::try_next()
{
    return next_within(duration::zero());
}

} // namespace skein
