#include "store/transport_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace skein::store {

void transport_model::publish(const std::string& group, const std::string& payload, int priority,
                              const std::optional<std::string>& routing_key)
{
    const auto [found, is_new] = groups_.try_emplace(group);
    if (is_new) {
        found->second.arrival = ++arrivals_;
        found->second.priority = priority;
        found->second.routing_key = routing_key;
    }
    found->second.messages.push_back({++last_seq_, payload, std::nullopt});
}

bool transport_model::accepts(const claim_filter& filter, const stored_group& group)
{
    if (group.priority < filter.min_priority) {
        return false;
    }
    return !filter.routing_keys ||
           (group.routing_key && std::find(filter.routing_keys->begin(), filter.routing_keys->end(),
                                           *group.routing_key) != filter.routing_keys->end());
}

transport_model::groups::iterator transport_model::next(const claim_filter& filter, double now)
{
    auto best = groups_.end();
    for (auto each = groups_.begin(); each != groups_.end(); ++each) {
        const stored_group& group = each->second;
        const std::optional<lock>& held = group.messages.front().held;
        if (!accepts(filter, group) || (held && held->end >= now)) {
            continue;
        }
        if (best == groups_.end() || std::tie(group.stamp, group.arrival) <
                                         std::tie(best->second.stamp, best->second.arrival)) {
            best = each;
        }
    }
    return best;
}

double transport_model::next_stamp(double now) const
{
    double largest = 0;
    for (const auto& [name, group] : groups_) {
        largest = std::max(largest, group.stamp);
    }
    return std::max(now, std::nextafter(largest, std::numeric_limits<double>::infinity()));
}

std::optional<claimed_message> transport_model::claim(const claim_filter& filter,
                                                      const std::string& locked_by,
                                                      double visibility, double now)
{
    const auto found = next(filter, now);
    if (found == groups_.end()) {
        return std::nullopt;
    }
    found->second.stamp = next_stamp(now);
    stored_message& head = found->second.messages.front();
    head.held = lock{locked_by, now + visibility};
    return claimed_message{{head.seq, found->first, locked_by}, head.payload, now + visibility};
}

transport_model::stored_message* transport_model::find(const message_fence& fence)
{
    const auto group = groups_.find(fence.group_id);
    if (group == groups_.end() || group->second.messages.front().seq != fence.seq) {
        return nullptr;
    }
    return &group->second.messages.front();
}

transport_model::stored_message* transport_model::find_held(const message_fence& fence)
{
    stored_message* const head = find(fence);
    return head && head->held && head->held->locked_by == fence.locked_by ? head : nullptr;
}

void transport_model::remove_head(const std::string& group)
{
    const auto found = groups_.find(group);
    found->second.messages.pop_front();
    if (found->second.messages.empty()) {
        groups_.erase(found);
    }
}

bool transport_model::ack(const message_fence& fence)
{
    if (find_held(fence) == nullptr) {
        return false;
    }
    remove_head(fence.group_id);
    return true;
}

bool transport_model::release(const message_fence& fence)
{
    stored_message* const head = find_held(fence);
    if (head != nullptr) {
        head->held.reset();
    }
    return head != nullptr;
}

bool transport_model::park(const message_fence& fence, double end)
{
    stored_message* const head = find_held(fence);
    if (head != nullptr) {
        head->held = lock{"__parked__", end};
    }
    return head != nullptr;
}

bool transport_model::extend(const message_fence& fence, double end)
{
    stored_message* const head = find_held(fence);
    if (head != nullptr) {
        head->held->end = end;
    }
    return head != nullptr;
}

std::optional<double> transport_model::next_lapse(double now) const
{
    std::optional<double> earliest;
    for (const auto& [name, group] : groups_) {
        const std::optional<lock>& held = group.messages.front().held;
        if (held && held->end >= now && (!earliest || held->end < *earliest)) {
            earliest = held->end;
        }
    }
    return earliest;
}

void transport_model::ack_unfenced(const message_fence& fence)
{
    if (find(fence) != nullptr) {
        remove_head(fence.group_id);
    }
}

void transport_model::release_unfenced(const message_fence& fence)
{
    if (stored_message* const head = find(fence)) {
        head->held.reset();
    }
}

void transport_model::park_unfenced(const message_fence& fence, double end)
{
    if (stored_message* const head = find(fence)) {
        head->held = lock{"__parked__", end};
    }
}

} // namespace skein::store
