#pragma once

#include "schedule/schedule_fixture.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// The warnings that a database has logged.
struct warnings {
    std::shared_ptr<std::vector<std::string>> texts = std::make_shared<std::vector<std::string>>();

    [[nodiscard]] database_options options() const
    {
        database_options quick = manual_database::quick();
        quick.warn_of_wal_reset_bug = false;
        quick.log = [texts = texts](log_level level, std::string_view text) {
            if (level == log_level::warning) {
                texts->emplace_back(text);
            }
        };
        return quick;
    }
};

/// A scheduler that is kept from its work, and what it says of that.
class failing_fixture : public schedule_fixture {
protected:
    explicit failing_fixture(warnings told = {})
        : schedule_fixture(told.options()), warnings_(told.texts)
    {
    }

    void refuse_jobs()
    {
        other_.sql("CREATE TRIGGER refusal BEFORE INSERT ON _honker_live"
                   " BEGIN SELECT RAISE(ABORT, 'not now'); END");
    }

    void accept_jobs() { other_.sql("DROP TRIGGER refusal"); }

    /// Another program adds a schedule of the queue "q".
    void add_foreign(const std::string& name, const std::string& expression, int next)
    {
        other_.sql("INSERT INTO _honker_scheduler_tasks"
                   " (name, queue, cron_expr, payload, next_fire_at) VALUES ('" +
                   name + "', 'q', '" + expression + "', 'null', " + std::to_string(next) + ")");
    }

    /// One that nobody understands.
    void add_refused(const std::string& name = "bad") { add_foreign(name, "61 * * * *", 101); }

    void pass_seconds(int count)
    {
        for (int second = 0; second < count; ++second) {
            db_.advance(std::chrono::seconds{1});
        }
    }

    std::shared_ptr<std::vector<std::string>> warnings_;
};

} // namespace skein::support
