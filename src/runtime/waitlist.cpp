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
        joined.accepts = place->first;
        joined.origin = &who.origin();
        origins_[joined.origin].lines.insert(&joined);
    }
    // Who does not wait wants to know what the file says now, not what the line found last.
    if (is_new || who.how_long().is_none()) {
        change(joined);
    }
    who.line_ = &joined;
    count_in(who);
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
    count_out(leaver);
    leaver.line_ = nullptr;
    if (leaver.deadline_) {
        limits_.erase(*leaver.deadline_);
        leaver.deadline_.reset();
    }
    if (left.waiters.empty() && &left != visited_) {
        remove(left);
    }
    return kept;
}

std::size_t waitlist::size() const noexcept
{
    std::size_t all = 0;
    for (const auto& [accepts, each] : lines_) {
        all += each.waiters.size();
    }
    return all;
}

void waitlist::count_in(const waiter& who) noexcept
{
    if (who.how_long().is_none()) {
        ++who.line_->impatient;
    } else {
        ++patient_;
        heedful_ += who.heeds_others() ? 1U : 0U;
    }
}

void waitlist::count_out(const waiter& who) noexcept
{
    if (who.how_long().is_none()) {
        --who.line_->impatient;
    } else {
        --patient_;
        heedful_ -= who.heeds_others() ? 1U : 0U;
    }
}

void waitlist::remove(line& empty)
{
    settle(empty);
    forget_date(empty);
    const auto owner = origins_.find(empty.origin);
    owner->second.lines.erase(&empty);
    if (owner->second.lines.empty()) {
        origins_.erase(owner);
    }
    lines_.erase(lines_.find(std::string(empty.accepts)));
}

void waitlist::change(line& which)
{
    if (!which.is_changed) {
        changed_.emplace(which.accepts, &which);
        which.is_changed = true;
        forget_date(which);
    }
}

void waitlist::forget_date(line& which)
{
    if (which.look_again) {
        dates_.erase({*which.look_again, &which});
        which.look_again.reset();
    }
}

void waitlist::settle(line& which)
{
    if (which.is_changed) {
        changed_.erase(which.accepts);
        which.is_changed = false;
    }
}

void waitlist::mark(const source& changed)
{
    for (auto& [from, about] : origins_) {
        if (from->changes_with(changed)) {
            look_anew(about);
            std::ranges::for_each(about.lines, [this](line* each) { change(*each); });
        }
    }
}

void waitlist::mark_lines(const std::string& beginning)
{
    for (auto each = lines_.lower_bound(beginning);
         each != lines_.end() && each->first.starts_with(beginning); ++each) {
        change(each->second);
        look_anew(origins_.at(each->second.origin));
    }
}

void waitlist::mark_all()
{
    for (auto& [accepts, each] : lines_) {
        change(each);
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
    auto next = changed_.lower_bound(next_visited_);
    bool goes_on = true;
    for (std::size_t left = changed_.size(); left > 0 && goes_on && has_changed(); --left) {
        line& here = *(next == changed_.end() ? changed_.begin() : next)->second;
        {
            const reset_at_end guard{visited_ = &here};
            goes_on = visit(here);
        }
        // Not before: what is visited may change other lines, and settle itself.
        next = changed_.upper_bound(here.accepts);
        if (here.waiters.empty()) {
            remove(here);
        }
    }
    next_visited_ = next == changed_.end() ? std::string() : std::string(next->first);
}

void waitlist::settle_empty(line& found_empty, clock::wall_time looked_at,
                            std::optional<clock::wall_time> look_again)
{
    settle(found_empty);
    forget_date(found_empty);
    if (look_again) {
        dates_.emplace(*look_again, &found_empty);
        found_empty.look_again = look_again;
    }
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
    while (!dates_.empty() && dates_.begin()->first <= now) {
        change(*dates_.begin()->second);
    }
}

void waitlist::mark_dated()
{
    while (!dates_.empty()) {
        change(*dates_.begin()->second);
    }
}

std::optional<clock::wall_time> waitlist::next_due(sqlite::connection connection,
                                                   clock::wall_time now)
{
    std::optional<clock::wall_time> next;
    if (!dates_.empty()) {
        next = dates_.begin()->first;
    }
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

std::size_t waitlist::fail_overdue(clock::steady_time now, clock::steady_time::duration timeout,
                                   const error& reason)
{
    std::size_t failed = 0;
    visit_changed([&](line& each) {
        if (!each.locked_since) {
            each.locked_since = now;
        } else if (now - *each.locked_since >= timeout) {
            failed += each.waiters.size();
            fail(each, reason);
        }
        return true;
    });
    return failed;
}

} // namespace skein::runtime
