#pragma once

#include "runtime/home_process.hpp"
#include "runtime/wal_hint.hpp"
#include "sqlite/data_version.hpp"

#include <skein/clock.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace skein::runtime {

/// Notices that another connection, of this process or another, has committed to the file. It asks
/// only between `start` and `stop`, and never for a database that no other connection can see.
///
/// Without a hint it asks at a fixed interval. With one it rests, and asks when the log has been
/// written to. The hint comes before the commit can be seen, so it then asks every 100 µs until
/// there is news; and it may be lost, so it asks every 100 ms while it rests. Where hints come
/// faster than the fixed interval, they cost more than they save: it does without them until all
/// has been quiet for a while.
///
/// `start` comes before the look at the file that decides to wait: a commit after the look is then
/// always noticed.
class watcher {
public:
    /// `hint` may be null. All runs on `strand`.
    watcher(sqlite::connection connection, const home_process& home, clock& time,
            const asio::any_io_executor& strand, std::chrono::microseconds interval,
            std::unique_ptr<wal_hint> hint, std::function<void()> changed);

    /// Begins to watch; harmless when it does already. Throws `sqlite::error`, also when busy.
    void start();

    void stop() noexcept;

    /// Keeps our own commit, just made, from being taken for a hint. Returns whether others have
    /// committed too; `changed` is not called then.
    [[nodiscard]] bool note_own_commit();

private:
    enum class pace {
        fixed,    ///< asks at the interval, without hints
        resting,  ///< asks seldom
        chasing,  ///< a commit is on its way: asks often, for a limited time
        trailing, ///< another may be on its way: asks less and less often
    };

    void arm();
    void listen();
    void look();
    void heed();
    [[nodiscard]] bool has_changed();
    [[nodiscard]] bool is_burst();
    void go_on(pace wanted);

    sqlite::data_version version_;
    const home_process& home_;
    const clock& time_;
    std::unique_ptr<alarm> timer_;
    std::chrono::microseconds interval_; ///< between looks at the fixed pace
    std::unique_ptr<wal_hint> hint_;
    std::function<void()> changed_;
    bool has_others_;
    std::optional<std::int64_t> seen_; ///< present while it watches

    pace pace_ = pace::fixed;
    std::chrono::microseconds pause_{}; ///< until the next look
    clock::steady_time chase_ends_{};
    clock::steady_time last_hint_{};
    int hints_in_a_row_ = 0;
    int quiet_looks_ = 0;
};

} // namespace skein::runtime
