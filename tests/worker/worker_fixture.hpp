#pragma once

#include "queue/queue_fixture.hpp"
#include "support/operation.hpp"
#include "worker/gate.hpp"

#include <skein/skein.hpp>

#include <chrono>
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

/// A queue, and workers on it that get on in the calls of `settle`. What fails is due again after
/// exactly as many seconds as `first`, rounded up: with no pause at all there is no chance.
class worker_fixture : public queue_fixture {
protected:
    explicit worker_fixture(warnings told = {})
        : queue_fixture(told.options()), warnings_(told.texts)
    {
    }

    template <class Handler>
    [[nodiscard]] operation<void> start(const Handler& handler, const worker_options& options = {})
    {
        auto started = db_.start(skein::run(queue_, handler, options));
        db_.settle();
        return started;
    }

    /// Asks for a stop, and expects that it comes to its end without any time passing.
    void stop(operation<void>& run)
    {
        run.cancel();
        db_.settle();
        ASSERT_TRUE(run.is_done());
        EXPECT_NO_THROW(run.result());
    }

    /// How many jobs are in this state.
    std::string count(const std::string& state)
    {
        return value("SELECT count(*) FROM _honker_live WHERE state = '" + state + "'");
    }

    std::string left() { return value("SELECT count(*) FROM _honker_live"); }

    std::shared_ptr<std::vector<std::string>> warnings_;
    gate gate_{db_.context()};
};

} // namespace skein::support
