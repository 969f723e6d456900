#pragma once

#include "sqlite/savepoint.hpp"
#include "store/family_file.hpp"
#include "store/process_zone.hpp"
#include "store/queue/queue_schema.hpp"
#include "store/schedule/schedule_schema.hpp"
#include "store/schedule/schedule_tick.hpp"
#include "store/schedule/schedules.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skein::store {

/// Schedules and the queues that they enqueue into, in a process whose zone is UTC.
class schedule_file : public testing::Test {
protected:
    schedule_file()
    {
        tables_.write([&] { create_queue(tables_.connection(), 0); });
    }

    void add(const new_schedule& added, std::int64_t now)
    {
        tables_.write([&] { schedules_.register_schedule(added, now); });
    }

    /// One that fires every `seconds`, registered at 1000.
    void add_every(std::string_view name, const std::string& interval)
    {
        add({.name = name, .queue = "q", .expression = "@every " + interval, .payload = "1"}, 1000);
    }

    /// Of a tick that may refuse some.
    tick_outcome serve(std::int64_t due)
    {
        return tables_.write(
            [&] { return savepoint_.run([&] { return ticker_.tick(due, due); }); });
    }

    std::vector<schedule_fire> tick(std::int64_t due) { return tick(due, due); }

    /// A tick that fails whole.
    std::vector<schedule_fire> tick(std::int64_t due, std::int64_t now)
    {
        const auto all = [&] {
            tick_outcome outcome = ticker_.tick(due, now);
            require_no_refusal(outcome);
            return outcome.fires;
        };
        return tables_.write([&] { return savepoint_.run(all); });
    }

    /// The moments of a tick.
    std::vector<std::int64_t> fired(std::int64_t due)
    {
        std::vector<std::int64_t> moments;
        for (const schedule_fire& each : tick(due)) {
            moments.push_back(each.fire_at);
        }
        return moments;
    }

    [[nodiscard]] std::optional<std::int64_t> next_of(std::string_view name)
    {
        const std::optional<schedule> found = schedules_.find(name);
        return found ? found->next_fire_at : std::nullopt;
    }

    [[nodiscard]] const support::plain_connection& file() const { return tables_.file(); }

    process_zone zone_{"UTC"};
    support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", schedule_tables()};
    schedules schedules_{tables_.connection(), family_shape::complete};
    schedule_tick ticker_{tables_.connection(), family_shape::complete};
    sqlite::savepoint savepoint_{tables_.connection(), "t"};
};

} // namespace skein::store
