#include "api/queue/queue_source.hpp"

#include "api/seconds.hpp"

#include <algorithm>

namespace skein::api {

std::optional<clock::wall_time> queue_source::next_due(sqlite::connection /*connection*/,
                                                       clock::wall_time since)
{
    queue_statements* const there = store_->opened();
    if (there == nullptr) {
        return std::nullopt;
    }
    const std::optional<std::int64_t> next =
        there->forecast.next_claim_at(name_, to_seconds(since));
    return next ? std::optional(from_seconds(*next)) : std::nullopt;
}

bool queue_choice_source::changes_with(const source& changed) const noexcept
{
    return this == &changed ||
           std::ranges::any_of(queues_, [&](const auto& each) { return each.get() == &changed; });
}

std::optional<clock::wall_time> queue_choice_source::next_due(sqlite::connection connection,
                                                              clock::wall_time since)
{
    std::optional<clock::wall_time> next;
    for (const auto& each : queues_) {
        const std::optional<clock::wall_time> due = each->next_due(connection, since);
        if (due && (!next || *due < *next)) {
            next = due;
        }
    }
    return next;
}

} // namespace skein::api
