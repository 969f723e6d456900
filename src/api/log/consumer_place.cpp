#include "api/log/consumer_place.hpp"

#include "api/small_unit.hpp"
#include "api/table_reading.hpp"
#include "store/saturating.hpp"

#include <algorithm>
#include <limits>

namespace skein::api {

namespace {

// What a consumer reads at once, or more where more is wanted at once; the rest of it waits in
// memory for the calls that take it.
constexpr std::size_t page = 100;

/// Before the first event that is there. Nothing that was removed until now is missed.
log_place place_of_first(store::streams& there, const std::string& topic)
{
    constexpr std::int64_t before_all = std::numeric_limits<std::int64_t>::min();
    const std::vector<store::stream_event> first = there.read_since(topic, before_all, 1);
    return {first.empty() ? there.last_offset(topic)
                          : store::saturating_subtract(first.front().offset, 1),
            there.last_removed(topic).value_or(0)};
}

log_place place_of_start(store::streams& there, const std::string& topic,
                         const consumer_options& options, std::optional<std::int64_t> saved)
{
    const bool is_first =
        options.start == consumer_start::saved_or_first || options.start == consumer_start::first;
    const bool heeds_saved = options.start == consumer_start::saved_or_first ||
                             options.start == consumer_start::saved_or_end;
    if (options.behind) {
        return {*options.behind, 0};
    }
    if (saved && heeds_saved) {
        return {*saved, 0};
    }
    return is_first ? place_of_first(there, topic) : log_place{there.last_offset(topic), 0};
}

/// Where one starts that the file knows; nothing when somebody has to write.
asio::awaitable<std::optional<consumer_position>>
look_for(std::shared_ptr<const stream_state> topic, std::string name, consumer_options options)
{
    const auto look = [topic, name, options](store::streams& there, std::int64_t /*now*/) {
        std::optional<consumer_position> known;
        const bool is_good = !topic->create_schema || topic->store->has_additions();
        const auto saved = there.saved_offset(name, topic->topic());
        if (is_good && saved) {
            known = {place_of_start(there, topic->topic(), options, saved), *saved};
        }
        return known;
    };
    return read_tables(topic->engine, topic->store, topic->create_schema, look);
}

/// The same for one that is new, unless another was faster.
asio::awaitable<consumer_position> enter(std::shared_ptr<const stream_state> topic,
                                         std::string name, consumer_options options)
{
    const auto work = [topic, name, options](runtime::batch& batch) {
        store::streams& there = topic->ready(batch);
        const auto saved = there.saved_offset(name, topic->topic());
        const log_place start = place_of_start(there, topic->topic(), options, saved);
        if (!saved) {
            there.save_offset(name, topic->topic(), start.read);
        }
        return consumer_position{start, saved.value_or(start.read)};
    };
    return write(topic->engine, work);
}

} // namespace

asio::awaitable<consumer> consumer_place::make(std::shared_ptr<const stream_state> topic,
                                               std::string name, consumer_options options)
{
    std::optional<consumer_position> position = co_await look_for(topic, name, options);
    if (!position) {
        position = co_await enter(topic, name, options);
    }
    co_return consumer(
        std::make_shared<consumer_place>(topic, std::move(name), options.saving, *position));
}

asio::awaitable<bool> consumer_place::save(std::shared_ptr<consumer_place> self,
                                           std::optional<std::int64_t> offset)
{
    const auto work = [self, offset](runtime::batch& batch) {
        return offset && self->save(batch, *offset);
    };
    return write(self->topic_->engine, work);
}

/// Whatever keeps it from being saved, or its caller from waiting for that, the next call tries it
/// again.
asio::awaitable<void> consumer_place::save_automatically(std::shared_ptr<consumer_place> self)
{
    const std::int64_t last = self->offset();
    if (self->saving_ == consumer_saving::automatically && last > self->saved_ &&
        self->handed_out()) {
        co_await save(self, last);
        self->saved_ = last;
    }
}

asio::awaitable<std::vector<stream_event>>
consumer_place::next(std::shared_ptr<consumer_place> self, std::size_t most,
                     runtime::patience how_long)
{
    log_follower<topic_log>& follower = self->follower_;
    const log_follower<topic_log>::turn mine(follower);
    if (follower.is_empty()) {
        co_await save_automatically(self);
        co_await follower.fetch(std::max(most, page), how_long);
    } else {
        co_await follower.suspend_once();
    }
    std::vector<stream_event> events = public_events(follower.take(most));
    if (!events.empty()) {
        self->handed_out_ = events.back().offset;
    }
    co_return events;
}

} // namespace skein::api
