#pragma once

#include "scratch_file.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>

#include <optional>
#include <string_view>

namespace benchmarks {

/// What is in a file in large numbers, as SQL for the row `i` in 1…n, and the claim that meets it.
struct crowd {
    /// Scattered, as ids are that are drawn at random.
    std::string_view group = "printf('%08x', i * 2654435761 % 4294967296)";
    std::string_view locked_by = "NULL";
    std::string_view blocked_until = "NULL";
    std::string_view priority = "0";
    std::string_view routing_key = "NULL";

    enum class messages { waiting, lost } state = messages::waiting;

    /// What is published before each claim, so that there is always something to claim.
    std::string_view own_group = "";
    skein::publish_options own = {};

    skein::claim_options claim = {};

    /// Whether claims may take the crowd's messages, or must look past all of them.
    enum class place { claimed, passed_over } role = place::passed_over;
};

/// A file with a crowd in it, and a transport on it in this thread, durability normal.
class crowded_file {
public:
    crowded_file(const crowd& what, int count);

    /// Publishes a message, then claims one and acknowledges it. Returns the microseconds that the
    /// claim and its acknowledgement took.
    double claim_and_ack();

private:
    asio::awaitable<void> step(double& microseconds);
    asio::awaitable<void> publish(std::string_view group);

    const crowd what_;
    const scratch_file file_;
    asio::io_context io_;
    std::optional<skein::database> database_;
    std::optional<skein::transport> transport_;
    int published_ = 0;
};

} // namespace benchmarks
