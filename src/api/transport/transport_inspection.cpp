#include <skein/transport_inspection.hpp>

#include "api/transport/transport_state.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/epoch.hpp"
#include "runtime/reading.hpp"

#include <skein/error.hpp>

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <limits>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::transport_state>;

/// A look at a transport: its result stays as it was made when there are no tables.
template <class Look>
class inspection_reading final : public runtime::reading {
public:
    using result_type = std::invoke_result_t<Look&, store::transport_inspection&, double>;

    inspection_reading(state_handle where, Look look)
        : where_(std::move(where)), look_(std::move(look))
    {
    }

    void run(const SQLite::Database& database) override
    {
        const sqlite::connection connection(database.getHandle());
        store::transport_inspection* const there =
            where_->source->inspection(connection, where_->create_schema);
        if (there != nullptr) {
            result = look_(*there, runtime::to_epoch(where_->engine->wall_now()));
        }
    }

    result_type result{};

private:
    state_handle where_;
    Look look_;
};

template <class Look>
auto start(const state_handle& state, Look look)
{
    return runtime::await_result(
        state->engine, std::make_shared<inspection_reading<Look>>(state, std::move(look)));
}

std::size_t count_of(std::int64_t count) noexcept
{
    return static_cast<std::size_t>(count);
}

transport_counts public_counts(const store::message_counts& found)
{
    transport_counts counts;
    counts.messages = count_of(found.messages);
    counts.groups = count_of(found.groups);
    counts.waiting = count_of(found.messages - found.in_flight - found.parked);
    counts.in_flight = count_of(found.in_flight);
    counts.parked = count_of(found.parked);
    counts.orphans = count_of(found.orphans);
    counts.ghosts = count_of(found.ghosts);
    if (found.oldest_waiting) {
        counts.oldest_waiting = {found.oldest_waiting->seq, found.oldest_waiting->group_id};
    }
    return counts;
}

transport_group public_group(store::inspected_group found)
{
    transport_group group;
    group.name = std::move(found.group_id);
    group.messages = count_of(found.messages);
    group.priority = static_cast<int>(found.priority);
    group.routing_key = std::move(found.routing_key);
    if (found.last_claimed_at != 0) {
        group.last_claimed_at = runtime::from_epoch(found.last_claimed_at);
    }
    if (found.lock) {
        const bool is_parked = found.lock->locked_by == store::parked;
        group.state = is_parked ? group_state::parked : group_state::in_flight;
        group.until = runtime::from_epoch(found.lock->expiry);
        group.worker = is_parked ? std::string() : api::worker_of(found.lock->locked_by);
    }
    return group;
}

} // namespace

asio::awaitable<transport_counts> transport::counts() const
{
    return start(state_, [](store::transport_inspection& there, double now) {
        return public_counts(there.counts(now));
    });
}

asio::awaitable<std::vector<transport_group>> transport::groups(groups_options options) const
{
    if (options.limit == 0) {
        throw error(errc::invalid_argument, "limit: 0 is not accepted; 1 and more is");
    }
    constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
    const auto limit = static_cast<std::int64_t>(std::min(options.limit, most));
    return start(state_, [limit, after = std::optional<std::string>(options.after)](
                             store::transport_inspection& there, double now) {
        std::vector<transport_group> groups;
        for (store::inspected_group& each : there.groups(limit, after, now)) {
            groups.push_back(public_group(std::move(each)));
        }
        return groups;
    });
}

} // namespace skein
