#pragma once

#include "log_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace SQLite {
class Database;
}

/// The program's own tables, in the file that holds the messages too. What is reported is counted
/// from them, not from what the processes believe.
namespace package_log::ledger {

/// The two processes that share the work, by their place in an array.
inline const std::array<std::string, 2> workers{"worker 1", "worker 2"};

/// A number for each worker.
using shares = std::array<std::size_t, workers.size()>;

void create(SQLite::Database& file);

/// A worker is there, and claims from now on.
void sign_in(SQLite::Database& file, const std::string& worker);

[[nodiscard]] std::size_t count_signed_in(const SQLite::Database& file);

/// A worker has been given the message and begins with it. Written by itself, before the work: a
/// worker that is killed leaves it behind.
void note_delivery(SQLite::Database& file, std::int64_t seq, const std::string& worker);

/// The effect of an event: the package's state, and that the event was processed. Belongs into the
/// transaction that acknowledges the message.
void process(SQLite::Database& file, std::int64_t seq, const std::string& worker,
             const std::string& package, const package_event& event);

/// How many events each worker has processed.
struct progress {
    shares by_worker{};
    std::int64_t position = 0; ///< up to where they were counted

    [[nodiscard]] std::size_t total() const { return by_worker[0] + by_worker[1]; }
};

/// Counts on, from where the last count ended.
[[nodiscard]] progress count_on(const SQLite::Database& file, progress last);

/// How many messages each worker was given and has not finished.
[[nodiscard]] shares in_hand(const SQLite::Database& file);

struct totals {
    std::size_t processed = 0;    ///< different events
    std::size_t repeated = 0;     ///< effects beyond one for an event
    std::size_t out_of_order = 0; ///< events whose package had already seen a later line
    std::size_t redelivered = 0;  ///< deliveries beyond one for a message
};

[[nodiscard]] totals count(const SQLite::Database& file);

struct package_state {
    std::string state;
    std::string version;

    friend bool operator==(const package_state&, const package_state&) = default;
};
using package_states = std::map<std::string, package_state>;

/// The state of each package, as the events have left it.
[[nodiscard]] package_states states(const SQLite::Database& file);

} // namespace package_log::ledger
