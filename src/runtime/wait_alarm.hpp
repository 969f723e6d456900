#pragma once

#include "runtime/home_process.hpp"
#include "runtime/waitlist.hpp"
#include "sqlite/connection.hpp"

#include <skein/clock.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace skein::runtime {

/// The passing of time for the lines that wait: one alarm serves all limits and all due moments. It
/// may ring early, never late. It refers to all that it is given; the strand alone uses it.
class wait_alarm {
public:
    /// `on_time` is called when it has rung and the lines have been told.
    wait_alarm(waitlist& waiting, sqlite::connection connection, const home_process& home,
               skein::clock& clock, std::unique_ptr<skein::alarm> alarm,
               std::function<void()> on_time);

    void set();
    void clear();

    /// Ends the waits whose limit has passed, and marks what has fallen due.
    void pass_time();

private:
    void ring();
    void notice_clock_step();
    [[nodiscard]] skein::duration clock_distance() const noexcept;

    waitlist& waiting_;
    sqlite::connection connection_;
    const home_process& home_;
    skein::clock& clock_;
    std::function<void()> on_time_;
    std::unique_ptr<skein::alarm> alarm_;
    std::optional<skein::clock::steady_time> rings_at_;
    /// How far the clocks were apart before the lines that have a date now took it.
    skein::duration clock_distance_;
};

} // namespace skein::runtime
