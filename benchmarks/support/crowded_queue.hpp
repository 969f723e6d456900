#pragma once

#include "scratch_file.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>

#include <optional>
#include <string_view>

namespace benchmarks {

/// Jobs that are in a queue in large numbers, as SQL for the row `i` in 1…n.
struct job_crowd {
    std::string_view state = "'pending'";
    std::string_view run_at = "1";
    std::string_view claim_expires_at = "NULL";
    std::string_view attempts = "0";
    std::string_view expires_at = "NULL";
    std::string_view queue = "'q'";

    /// Whether claims may take the crowd's jobs.
    bool is_claimed = false;
};

/// A file with a crowd in a queue, and a database on it in this thread, durability normal.
class crowded_queue {
public:
    crowded_queue(const job_crowd& what, int count);

    /// Enqueues a job, then claims one and acknowledges it. Returns the microseconds that the claim
    /// and its acknowledgement took.
    double claim_and_ack();

private:
    asio::awaitable<void> step(double& microseconds);

    const job_crowd what_;
    const scratch_file file_;
    asio::io_context io_;
    std::optional<skein::database> database_;
    std::optional<skein::queue> queue_;
};

} // namespace benchmarks
