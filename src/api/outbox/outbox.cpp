#include <skein/outbox.hpp>

#include "api/misuse.hpp"
#include "api/outbox/outbox_state.hpp"
#include "api/payload_room.hpp"
#include "api/queue/job_arguments.hpp"
#include "api/transport/publication_arguments.hpp"
#include "store/json_text.hpp"

#include <skein/error.hpp>

#include <SQLiteCpp/Database.h>

namespace skein {

namespace {

enqueued_job enqueue_one(api::outbox_jobs& there, const api::job_request& wanted,
                         bool creates_schema, std::int64_t now)
{
    if (!wanted.keys.any()) {
        return {there.plain.enqueue(wanted.job, now)};
    }
    if (creates_schema) {
        store::create_tables_of(there.connection, wanted.keys);
    }
    return api::shown(there.keyed.enqueue(wanted.job, wanted.keys, now));
}

} // namespace

own_connection::own_connection(sqlite3* handle) : handle_(handle)
{
    if (handle_ == nullptr) {
        throw error(errc::invalid_argument, "connection: null; an open connection is accepted");
    }
}

own_connection::own_connection(SQLite::Database& database) : own_connection(database.getHandle()) {}

outbox::outbox(own_connection connection, const outbox_options& options)
    : state_(std::make_unique<api::outbox_state>(sqlite::connection(connection.handle()), options))
{
}

outbox::outbox(outbox&& other) noexcept = default;
outbox& outbox::operator=(outbox&& other) noexcept = default;
outbox::~outbox() = default;

enqueued_job outbox::enqueue(std::string_view queue, std::string_view payload,
                             enqueue_options options)
{
    const new_job one{payload, options};
    return enqueue_many(queue, {&one, 1}).front();
}

std::vector<enqueued_job> outbox::enqueue_many(std::string_view queue,
                                               std::span<const new_job> jobs)
{
    std::vector<api::job_request> checked;
    checked.reserve(jobs.size());
    for (const new_job& each : jobs) {
        api::require_room(state_->length_limit(), each.payload, queue);
        checked.push_back(
            api::checked_job(queue, each.payload, each.options, queue_options().max_attempts));
    }
    return state_->write(state_->queues, [&](api::outbox_jobs& there, std::int64_t now) {
        std::vector<enqueued_job> enqueued;
        enqueued.reserve(checked.size());
        for (const api::job_request& each : checked) {
            enqueued.push_back(enqueue_one(there, each, state_->creates_schema(), now));
        }
        return enqueued;
    });
}

void outbox::publish(std::string_view group, std::string_view payload, publish_options options)
{
    const publication one{group, payload, options};
    publish_many({&one, 1});
}

void outbox::publish_many(std::span<const publication> publications)
{
    for (const publication& each : publications) {
        api::check_publication(each, state_->length_limit());
    }
    state_->write(state_->transport, [&](store::transport& there, std::int64_t /*now*/) {
        for (const publication& each : publications) {
            there.publish(api::stored(each, state_->fair_turns()));
        }
        return publications.size();
    });
}

std::int64_t outbox::notify(std::string_view channel, std::string_view payload)
{
    api::require_room(state_->length_limit(), payload, channel);
    api::checked([&] { store::require_json(payload); });
    return state_->write(state_->notifications, [&](store::notifications& there, std::int64_t now) {
        return there.notify(channel, payload, now);
    });
}

std::int64_t outbox::publish_event(std::string_view topic, std::string_view payload)
{
    return publish_event(topic, std::nullopt, payload);
}

std::int64_t outbox::publish_event(std::string_view topic, std::optional<std::string_view> key,
                                   std::string_view payload)
{
    const new_event one{key, payload};
    return publish_events(topic, {&one, 1}).front();
}

std::vector<std::int64_t> outbox::publish_events(std::string_view topic,
                                                 std::span<const new_event> events)
{
    for (const new_event& each : events) {
        api::require_room(state_->length_limit(), each.payload, topic, each.key.value_or(""));
        api::checked([&] { store::require_json(each.payload); });
    }
    return state_->write(state_->streams, [&](store::streams& there, std::int64_t now) {
        std::vector<std::int64_t> offsets;
        offsets.reserve(events.size());
        for (const new_event& each : events) {
            offsets.push_back(there.publish(topic, each.key, each.payload, now));
        }
        return offsets;
    });
}

} // namespace skein
