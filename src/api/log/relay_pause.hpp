#pragma once

#include "api/log/relay_state.hpp"
#include "runtime/waiter.hpp"

#include <memory>
#include <string>
#include <utility>

namespace skein::api {

/// What comes after a failure: it is told to the log, and a while passes. It waits as others do, so
/// that the clock is the database's, and the closing ends it.
class relay_pause final : public runtime::waiter {
public:
    relay_pause(std::shared_ptr<const relay_state> state, clock::steady_time::duration length,
                std::string warning)
        : waiter({length}), state_(std::move(state)), warning_(std::move(warning))
    {
    }

    runtime::source& origin() const noexcept override { return *state_->topic->store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool heeds_others() const noexcept override { return false; }
    bool only_reads() const noexcept override { return true; }
    bool has_work(sqlite::connection /*connection*/, clock::wall_time /*now*/) override
    {
        return false;
    }

    void arrive(runtime::engine& engine, std::shared_ptr<operation> self) override
    {
        engine.log(log_level::warning, warning_);
        waiter::arrive(engine, std::move(self));
    }

private:
    std::shared_ptr<const relay_state> state_;
    std::string warning_;
    std::string accepts_ = "pause";
};

} // namespace skein::api
