#pragma once

#include <skein/clock.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace skein::testing {

/// A clock that stands still until it is told to move, for tests that wait without waiting.
///
///     auto time = std::make_shared<skein::testing::manual_clock>();
///     skein::database db{executor, "test.db", {.clock = time}};
///     …
///     time->advance(5min);   // leases lapse, parked messages fall due, limits run out
///
/// It drives everything that a database waits for: delays, leases, limits, the watcher and the
/// pauses between tries for the write lock. Only opening a file waits in real time.
///
/// Thread-safety: safe from any thread. Alarms ring on their executors, so what `advance` sets off
/// has happened once those have run.
class SKEIN_EXPORT manual_clock final : public clock {
public:
    /// Starts at the given wall-clock time; by default 100 s after the epoch.
    explicit manual_clock(wall_time start = wall_time{std::chrono::seconds{100}});
    ~manual_clock() override;

    /// Moves the wall clock and the steady clock forward; alarms that are due ring.
    void advance(std::chrono::nanoseconds step);

    /// Steps the wall clock alone, forward or back, as an administrator would.
    void set_wall(wall_time now);

    /// How many alarms are set.
    [[nodiscard]] std::size_t alarms() const;

    [[nodiscard]] wall_time wall_now() const noexcept override;
    [[nodiscard]] steady_time steady_now() const noexcept override;
    [[nodiscard]] std::unique_ptr<alarm> make_alarm(asio::any_io_executor executor) override;

private:
    class manual_alarm;
    struct state;

    std::shared_ptr<state> state_;
};

} // namespace skein::testing
