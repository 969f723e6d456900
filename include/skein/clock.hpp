#pragma once

#include <skein/export.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace skein {

/// Any length of time: every `std::chrono` duration converts to it, and the longest of them does
/// not overflow.
using duration = std::chrono::duration<double>;

/// Rings once, after a while.
///
/// All calls are made on the executor that the alarm was made for.
class alarm {
public:
    alarm() = default;
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;
    virtual ~alarm() = default;

    /// Calls `ring` on the executor after `delay`, unless the alarm is set anew, cleared or
    /// destroyed before. An earlier setting is forgotten.
    virtual void set(std::chrono::nanoseconds delay, std::function<void()> ring) = 0;

    /// Forgets the setting: `ring` is not called any more.
    virtual void clear() noexcept = 0;
};

/// All the time that a database sees. Replaced in tests, see `skein::testing::manual_clock`.
///
/// Thread-safety: every call may come from any thread.
class clock {
public:
    using wall_time = std::chrono::system_clock::time_point;
    using steady_time = std::chrono::steady_clock::time_point;

    clock() = default;
    clock(const clock&) = delete;
    clock& operator=(const clock&) = delete;
    virtual ~clock() = default;

    /// The time that is written into the file, where other processes read it. It may step.
    [[nodiscard]] virtual wall_time wall_now() const noexcept = 0;

    /// The time that waits inside the process are measured with. It never steps back.
    [[nodiscard]] virtual steady_time steady_now() const noexcept = 0;

    /// An alarm that rings on `executor`, measured with the steady time.
    [[nodiscard]] virtual std::unique_ptr<alarm> make_alarm(asio::any_io_executor executor) = 0;
};

/// The machine's clocks: what a database uses unless it is given another.
[[nodiscard]] SKEIN_EXPORT std::shared_ptr<clock> system_clock();

} // namespace skein
