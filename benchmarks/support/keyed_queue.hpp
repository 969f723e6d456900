#pragma once

#include "scratch_file.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benchmarks {

/// Whether somebody uses keys, pauses and requests to stop in the file.
enum class features { unused, used };

/// Jobs that are in a file in large numbers, and what stands beside them.
struct keyed_crowd {
    features what = features::used;

    /// Writes `{count}` of each into a file in which the queue "paused" is, and the key "full" of
    /// the queue "q".
    std::vector<std::string_view> statements = {};

    /// What the jobs that are measured have.
    skein::enqueue_options own = {};
};

[[nodiscard]] keyed_crowd nobody_uses_anything();
[[nodiscard]] keyed_crowd paused_jobs();
[[nodiscard]] keyed_crowd blocked_jobs();
[[nodiscard]] keyed_crowd unique_jobs();
/// All of that in another queue.
[[nodiscard]] keyed_crowd another_queue_uses_all();

/// A file with a crowd in it, and a database on it in this thread, durability normal.
class keyed_queue {
public:
    keyed_queue(keyed_crowd what, int count);

    struct times {
        double enqueue = 0;
        double claim_and_ack = 0;
    };

    /// Enqueues a job, claims and acknowledges it. Returns the microseconds that these took.
    times run_a_job();

private:
    asio::awaitable<void> step(times& microseconds);

    const keyed_crowd what_;
    const scratch_file file_;
    asio::io_context io_;
    std::optional<skein::database> database_;
    std::optional<skein::queue> queue_;
};

} // namespace benchmarks
