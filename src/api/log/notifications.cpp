#include <skein/database.hpp>

#include "api/database_owner.hpp"
#include "api/log/listener_place.hpp"
#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/retention.hpp"
#include "api/seconds.hpp"
#include "api/slices.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/unit.hpp"
#include "store/json_text.hpp"
#include "store/saturating.hpp"

#include <skein/error.hpp>
#include <skein/observer.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skein {

namespace {

using api::notification_store;

/// Makes one notification. The result is its number.
class notify_unit final : public runtime::unit {
public:
    using result_type = std::int64_t;

    /// Throws `errc::invalid_payload` and `errc::payload_too_large`.
    notify_unit(runtime::engine& engine, std::string_view channel, std::string_view payload,
                const notification_options& options)
        : store_(api::notification_store_of(engine)), create_schema_(options.create_schema),
          channel_(channel)
    {
        api::require_room(engine, payload, channel);
        api::checked([&] { store::require_json(payload); });
        payload_ = payload;
    }

    void run(runtime::batch& batch) override
    {
        result = store_->ready(batch, create_schema_)
                     .notify(channel_, payload_, api::to_seconds(batch.now()));
        batch.touch_lines(api::channel_log::lines_of(channel_));
        if (batch.is_observed()) {
            batch.note([channel = channel_, id = result](runtime::event_sink& told) {
                told.tell([&](observer& who) { who.on_notification_published({channel, id}); });
            });
        }
    }

    std::int64_t result = 0;

private:
    std::shared_ptr<notification_store> store_;
    bool create_schema_;
    std::string channel_;
    std::string payload_;
};

api::removal removal_by_age(std::shared_ptr<notification_store> there, bool create_schema,
                            std::chrono::seconds older_than)
{
    return [there = std::move(there), create_schema,
            age = api::checked_age(older_than)](runtime::batch& batch) {
        const std::int64_t now = api::to_seconds(batch.now());
        return there->ready(batch, create_schema)
            .purge(store::saturating_subtract(now, age), api::most_in_slice);
    };
}

api::removal removal_by_number(const std::shared_ptr<notification_store>& there, bool create_schema,
                               std::size_t keep)
{
    return api::removal_up_to(
        [there, create_schema, kept = api::kept_of(keep)](runtime::batch& batch) {
            return there->ready(batch, create_schema).newest_but(kept);
        },
        [there, create_schema](runtime::batch& batch, std::int64_t last) {
            return there->ready(batch, create_schema).remove_through(last, api::most_in_slice);
        });
}

} // namespace

asio::awaitable<std::int64_t> database::notify(std::string_view channel, std::string_view payload,
                                               notification_options options) const
{
    owner_->engine()->require_outside_callback("notify(tx, channel, payload)");
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    return runtime::await_result(engine,
                                 std::make_shared<notify_unit>(*engine, channel, payload, options));
}

std::int64_t database::notify(skein::transaction& tx, std::string_view channel,
                              std::string_view payload, notification_options options) const
{
    runtime::engine& engine = *owner_->engine();
    runtime::batch& batch = api::own_batch(tx.batch_, engine);
    notify_unit unit(engine, channel, payload, options);
    unit.run(batch);
    return unit.result;
}

asio::awaitable<listener> database::listen(std::string_view channel,
                                           notification_options options) const
{
    owner_->engine()->require_outside_callback();
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    return api::listener_place::listen(std::make_shared<api::listener_place::channel>(
        api::listener_place::channel{engine, api::notification_store_of(*engine),
                                     std::string(channel), options.create_schema}));
}

asio::awaitable<std::size_t> database::prune_notifications(notification_retention retention,
                                                           notification_options options) const
{
    const std::shared_ptr<runtime::engine>& engine = owner_->engine();
    const auto there = api::notification_store_of(*engine);
    std::vector<api::removal> removals;
    if (retention.older_than) {
        removals.push_back(removal_by_age(there, options.create_schema, *retention.older_than));
    }
    if (retention.keep) {
        removals.push_back(removal_by_number(there, options.create_schema, *retention.keep));
    }
    if (removals.empty()) {
        throw error(errc::invalid_argument,
                    "older_than, keep: neither is given; one of them, or both, is accepted");
    }
    return api::remove_in_slices(engine, std::move(removals));
}

} // namespace skein
