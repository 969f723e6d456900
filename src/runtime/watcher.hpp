#pragma once

#include "runtime/home_process.hpp"
#include "sqlite/data_version.hpp"

#include <skein/clock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace skein::runtime {

/// Notices that another connection, of this process or another, has committed to the file. It
/// asks at a fixed interval, and only between `start` and `stop`.
///
/// `start` comes before the look at the file that decides to wait: a commit after the look is then
/// always noticed.
class watcher {
public:
    watcher(sqlite::connection connection, const home_process& home, std::unique_ptr<alarm> timer,
            std::chrono::microseconds interval, std::function<void()> changed);

    /// Begins to watch; harmless when it does already. Throws `sqlite::error`, also when busy.
    void start();

    void stop() noexcept;

private:
    void arm();
    void look();
    [[nodiscard]] bool has_changed();

    sqlite::data_version version_;
    const home_process& home_;
    std::unique_ptr<alarm> timer_;
    std::chrono::microseconds interval_;
    std::function<void()> changed_;
    std::optional<std::int64_t> seen_; ///< present while it watches
};

} // namespace skein::runtime
