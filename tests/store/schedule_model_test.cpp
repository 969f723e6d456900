#include "store/error.hpp"
#include "store/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace {

using namespace skein::store;

/// A schedule of every so many seconds, as a list of moments.
struct model_schedule {
    new_schedule made;
    std::int64_t interval = 1;
    bool is_enabled = true;
    std::optional<std::int64_t> next;
    std::optional<std::int64_t> runs_left;
    std::optional<std::int64_t> last_job;

    [[nodiscard]] bool is_shared() const
    {
        return !made.ends_at && !made.runs && made.missed == missed_moments::all &&
               made.overlap == overlap_policy::allow;
    }

    /// All moments up to `due`, and the one behind them.
    std::vector<std::int64_t> pass(std::int64_t due)
    {
        std::vector<std::int64_t> moments;
        while (next && *next <= due) {
            moments.push_back(*next);
            *next += interval;
            if (made.ends_at && *next > *made.ends_at) {
                next.reset();
            }
        }
        return moments;
    }

    std::vector<std::int64_t> wanted(std::int64_t due)
    {
        std::vector<std::int64_t> moments = pass(due);
        if (made.missed == missed_moments::skip) {
            std::erase_if(moments, [&](std::int64_t each) { return each < due - made.grace; });
        }
        const std::size_t most = made.missed == missed_moments::once ? 1 : 64;
        if (moments.size() > most) {
            moments.resize(most);
            next = is_shared() ? due + interval : next;
        }
        return moments;
    }
};

class ScheduleModel : public schedule_file, public testing::WithParamInterface<unsigned> {
protected:
    std::int64_t pick(std::int64_t lowest, std::int64_t highest)
    {
        return std::uniform_int_distribution<std::int64_t>(lowest, highest)(chance_);
    }

    const std::string& any_name() { return names_[static_cast<std::size_t>(pick(0, 3))]; }

    void register_any()
    {
        model_schedule added;
        added.interval = pick(1, 20);
        const std::string text = "@every " + std::to_string(added.interval) + "s";
        added.made = {.name = any_name(), .queue = "q", .expression = text, .payload = "1"};
        if (pick(0, 3) != 0) {
            added.made.missed = static_cast<missed_moments>(pick(0, 2));
            added.made.grace = pick(0, 40);
            added.made.overlap = static_cast<overlap_policy>(pick(0, 1));
        }
        if (pick(0, 3) == 0) {
            added.made.ends_at = now_ + pick(20, 300);
        }
        if (pick(0, 3) == 0) {
            added.made.runs = pick(1, 9);
        }
        add(added.made, now_);
        added.made.expression = {};
        added.next = now_ + added.interval;
        added.runs_left = added.made.runs;
        const auto present = model_.find(std::string(added.made.name));
        if (present != model_.end()) {
            added.is_enabled = present->second.is_enabled;
            // The shared table does not keep it.
            added.last_job = present->second.last_job;
        }
        if (added.is_shared()) {
            added.last_job.reset();
            added.made.grace = 60;
        }
        model_.insert_or_assign(std::string(added.made.name), added);
    }

    schedule_change any_change()
    {
        schedule_change change;
        if (pick(0, 2) == 0) {
            change.ends_at.emplace();
            if (pick(0, 1) == 0) {
                *change.ends_at = now_ + pick(-20, 300);
            }
        }
        if (pick(0, 2) == 0) {
            change.runs.emplace();
            if (pick(0, 1) == 0) {
                *change.runs = pick(1, 9);
            }
        }
        if (pick(0, 2) == 0) {
            change.missed = static_cast<missed_moments>(pick(0, 2));
        }
        if (pick(0, 2) == 0) {
            change.overlap = static_cast<overlap_policy>(pick(0, 1));
        }
        return change;
    }

    /// What becomes of a schedule; nothing when the change is refused.
    std::optional<model_schedule> changed(model_schedule each, const schedule_change& change) const
    {
        each.made.ends_at = change.ends_at.value_or(each.made.ends_at);
        each.made.missed = change.missed.value_or(each.made.missed);
        each.made.overlap = change.overlap.value_or(each.made.overlap);
        if (change.runs) {
            each.made.runs = *change.runs;
            each.runs_left = *change.runs;
        }
        if (change.ends_at || change.runs) {
            const std::int64_t next = each.next.value_or(now_ + each.interval);
            if (each.made.ends_at && next > *each.made.ends_at) {
                return std::nullopt;
            }
            each.next = each.runs_left == 0 ? std::nullopt : std::optional(next);
        }
        if (each.is_shared()) {
            each.last_job.reset();
            each.made.grace = 60;
        }
        return each;
    }

    void update_any()
    {
        const std::string& name = any_name();
        const schedule_change change = any_change();
        const auto update = [&] {
            return tables_.write([&] { return schedules_.update(name, change, now_); });
        };
        const auto present = model_.find(name);
        if (present == model_.end() || change.is_empty()) {
            ASSERT_FALSE(update());
        } else if (const auto wanted = changed(present->second, change)) {
            ASSERT_TRUE(update());
            present->second = *wanted;
        } else {
            ASSERT_THROW(update(), invalid_argument);
        }
    }

    std::vector<schedule_fire> expected_fires(std::int64_t due)
    {
        std::vector<schedule_fire> fires;
        for (auto& [name, each] : model_) {
            if (!each.is_enabled || !each.next || *each.next > due) {
                continue;
            }
            for (const std::int64_t moment : each.wanted(due)) {
                const bool waits = each.made.overlap == overlap_policy::skip && each.last_job &&
                                   live_.contains(*each.last_job);
                if (waits || each.runs_left == 0) {
                    continue;
                }
                live_.insert(++last_job_);
                fires.push_back({name, "q", moment, last_job_});
                if (!each.is_shared()) {
                    each.last_job = last_job_;
                }
                if (each.runs_left && --*each.runs_left == 0) {
                    each.next.reset();
                }
            }
        }
        return fires;
    }

    void finish_any()
    {
        if (!live_.empty()) {
            const auto job = std::next(live_.begin(), pick(0, std::ssize(live_) - 1));
            file().sql("DELETE FROM _honker_live WHERE id = " + std::to_string(*job));
            live_.erase(job);
        }
    }

    void remove(const std::string& name)
    {
        ASSERT_EQ(tables_.write([&] { return schedules_.unregister(name); }),
                  model_.erase(name) == 1);
    }

    void toggle(const std::string& name, bool is_enabled)
    {
        const auto present = model_.find(name);
        const bool is_other = present != model_.end() && present->second.is_enabled != is_enabled;
        ASSERT_EQ(tables_.write([&] {
            return is_enabled ? schedules_.resume(name) : schedules_.pause(name);
        }),
                  is_other);
        if (is_other) {
            present->second.is_enabled = is_enabled;
        }
    }

    void step()
    {
        switch (pick(0, 9)) {
        case 0:
            return register_any();
        case 1:
            return toggle(any_name(), false);
        case 2:
            return toggle(any_name(), true);
        case 3:
            return pick(0, 4) == 0 ? remove(any_name()) : finish_any();
        case 4:
            return update_any();
        case 5:
            return finish_any();
        default:
            now_ += pick(0, 9) == 0 ? pick(50, 3000) : pick(0, 20);
            const auto expected = expected_fires(now_);
            ASSERT_EQ(tick(now_), expected) << "at " << now_;
        }
    }

    [[nodiscard]] std::optional<std::int64_t> soonest_after(std::int64_t moment) const
    {
        std::set<std::int64_t> moments;
        for (const auto& [name, each] : model_) {
            if (each.is_enabled && each.next && *each.next > moment) {
                moments.insert(*each.next);
            }
        }
        return moments.empty() ? std::nullopt : std::optional(*moments.begin());
    }

    void compare()
    {
        std::optional<std::int64_t> soonest;
        for (const auto& [name, each] : model_) {
            const std::optional<schedule> found = schedules_.find(name);
            ASSERT_TRUE(found) << name;
            ASSERT_EQ(found->next_fire_at, each.next) << name;
            ASSERT_EQ(found->runs_left, each.runs_left) << name;
            ASSERT_EQ(found->is_enabled, each.is_enabled) << name;
            ASSERT_EQ(found->last_job, each.last_job) << name;
            ASSERT_EQ(found->missed, each.made.missed) << name;
            ASSERT_EQ(found->grace, each.made.grace) << name;
            if (each.is_enabled && each.next) {
                soonest = std::min(soonest.value_or(*each.next), *each.next);
            }
        }
        ASSERT_EQ(schedules_.list().size(), model_.size());
        ASSERT_EQ(schedules_.soonest(), soonest);
        ASSERT_EQ(schedules_.soonest_after(now_), soonest_after(now_));
    }

    const std::vector<std::string> names_{"a", "b", "c", "d"};
    std::mt19937 chance_{GetParam()};
    std::map<std::string, model_schedule> model_;
    std::set<std::int64_t> live_;
    std::int64_t last_job_ = 0;
    std::int64_t now_ = 1000;
};

TEST_P(ScheduleModel, BehavesLikeListsOfMoments)
{
    file().sql("PRAGMA synchronous = off");
    for (int each = 0; each < 600 && !HasFatalFailure(); ++each) {
        step();
        compare();
    }
    EXPECT_GT(last_job_, 100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleModel, testing::Range(1U, 13U));

} // namespace
