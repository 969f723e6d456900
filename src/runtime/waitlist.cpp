#include "runtime/waitlist.hpp"

#include <algorithm>
#include <vector>

namespace skein::runtime {

void waitlist::join(std::shared_ptr<waiter> newcomer, clock::steady_time now)
{
    waiter& who = *newcomer;
    const auto [place, is_new] = lines_.try_emplace(who.accepts());
    line& joined = place->second;
    if (is_new) {
        joined.origin = &who.origin();
        ++origins_[joined.origin].lines;
    }
    // Who does not wait wants to know what the file says now, not what the line found last.
    joined.is_changed = joined.is_changed || who.how_long().is_none();
    ++(who.how_long().is_none() ? joined.impatient : patient_);
    who.line_ = &joined;
    who.place_ = joined.waiters.insert(joined.waiters.end(), std::move(newcomer));
    const std::optional<clock::steady_time::duration> limit = who.how_long().limit;
    if (limit && *limit > limit->zero() && *limit < clock::steady_time::max() - now) {
        who.deadline_ = limits_.emplace(now + *limit, &who);
    }
}

std::shared_ptr<waiter> waitlist::leave(waiter& leaver)
{
    line& left = *leaver.line_;
    std::shared_ptr<waiter> kept = std::move(*leaver.place_);
    left.waiters.erase(leaver.place_);
    leaver.line_ = nullptr;
    --(leaver.how_long().is_none() ? left.impatient : patient_);
    if (leaver.deadline_) {
        limits_.erase(*leaver.deadline_);
        leaver.deadline_.reset();
    }
    if (left.waiters.empty() && &left != visited_) {
        remove(lines_.find(leaver.accepts()));
    }
    return kept;
}

void waitlist::remove(lines::iterator empty)
{
    const auto owner = origins_.find(empty->second.origin);
    if (--owner->second.lines == 0) {
        origins_.erase(owner);
    }
    lines_.erase(empty);
}

bool waitlist::has_changed() const
{
    return std::ranges::any_of(lines_, [](const auto& each) { return each.second.is_changed; });
}

void waitlist::mark(const source& changed)
{
    for (auto& [accepts, each] : lines_) {
        each.is_changed = each.is_changed || each.origin->changes_with(changed);
    }
    for (auto& [from, about] : origins_) {
        if (from->changes_with(changed)) {
            look_anew(about);
        }
    }
}

void waitlist::mark_line(const std::string& accepts)
{
    const auto found = lines_.find(accepts);
    if (found != lines_.end()) {
        found->second.is_changed = true;
        look_anew(origins_.at(found->second.origin));
    }
}

void waitlist::mark_all()
{
    for (auto& [accepts, each] : lines_) {
        each.is_changed = true;
    }
    for (auto& [from, about] : origins_) {
        look_anew(about);
    }
}

void waitlist::look_anew(origin& about) noexcept
{
    about.due_is_known = false;
    about.looked_at.reset();
}

void waitlist::visit_changed(const std::function<bool(line&)>& visit)
{
    struct reset_at_end {
        const line*& visited;
        ~reset_at_end() { visited = nullptr; }
    };
    auto next = lines_.lower_bound(next_visited_);
    bool goes_on = true;
    for (std::size_t left = lines_.size(); left > 0 && goes_on; --left) {
        const auto here = next == lines_.end() ? lines_.begin() : next;
        next = std::next(here);
        if (!here->second.is_changed) {
            continue;
        }
        {
            const reset_at_end guard{visited_ = &here->second};
            goes_on = visit(here->second);
        }
        if (here->second.waiters.empty()) {
            remove(here);
        }
    }
    next_visited_ = next == lines_.end() ? std::string() : next->first;
}

void waitlist::settle_empty(line& found_empty, clock::wall_time looked_at)
{
    found_empty.is_changed = false;
    found_empty.locked_since.reset();
    origin& about = origins_.at(found_empty.origin);
    about.looked_at = std::min(about.looked_at.value_or(looked_at), looked_at);
    for (auto each = found_empty.waiters.begin(); found_empty.impatient != 0;) {
        waiter& who = **each++;
        if (who.how_long().is_none()) {
            leave(who)->complete();
        }
    }
}

void waitlist::expire(clock::steady_time now)
{
    while (!limits_.empty() && limits_.begin()->first <= now) {
        leave(*limits_.begin()->second)->complete();
    }
}

std::optional<clock::steady_time> waitlist::next_limit() const
{
    return limits_.empty() ? std::nullopt : std::optional(limits_.begin()->first);
}

void waitlist::mark_due(clock::wall_time now)
{
    for (auto& [from, about] : origins_) {
        if (about.due_is_known && about.due && *about.due <= now) {
            mark(*from);
        }
    }
}

std::optional<clock::wall_time> waitlist::next_due(sqlite::connection connection,
                                                   clock::wall_time now)
{
    std::optional<clock::wall_time> next;
    for (auto& [from, about] : origins_) {
        if (!about.due_is_known) {
            about.due = from->next_due(connection, std::min(about.looked_at.value_or(now), now));
            about.due_is_known = true;
        }
        if (about.due && (!next || *about.due < *next)) {
            next = about.due;
        }
    }
    return next;
}

void waitlist::fail(line& failed, const error& reason)
{
    while (!failed.waiters.empty()) {
        const bool is_last = failed.waiters.size() == 1;
        leave(*failed.waiters.front())->complete(std::make_exception_ptr(reason));
        if (is_last) {
            break; // the line itself may be gone now
        }
    }
}

void waitlist::fail_all(const error& reason)
{
    while (!lines_.empty()) {
        fail(lines_.begin()->second, reason);
    }
}

void waitlist::fail_overdue(clock::steady_time now, clock::steady_time::duration timeout,
                            const error& reason)
{
    visit_changed([&](line& each) {
        if (!each.locked_since) {
            each.locked_since = now;
        } else if (now - *each.locked_since >= timeout) {
            fail(each, reason);
        }
        return true;
    });
}

} // namespace skein::runtime
