#pragma once

#include "sqlite/connection.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

// Raised when our additions (not the format's own tables) change their shape.
inline constexpr int queue_additions_version = 1;

/// The name that the version of our additions is recorded under.
inline constexpr std::string_view queue_addition = "queue";

/// Which of the queue's tables, and which of their newer parts, a file has.
struct queue_tables {
    bool has_live = false;
    bool has_claimed_at = false;
    /// The indexes of claims that knew no scheduled state: jobs of the future are pending then.
    bool has_older_indexes = false;
    bool has_results = false;
};

/// What the file's tables allow.
enum class queue_shape {
    missing,  ///< not there, or of an older shape
    plain,    ///< the format's tables; somebody else owns the schema
    complete, ///< the format's tables and our additions: paging and pruning do not grow with the
              ///< rest
};

/// Look at the file without writing. Throw `schema_too_new` when our additions in it are newer than
/// this program.
[[nodiscard]] queue_tables find_queue(sqlite::connection connection);
[[nodiscard]] queue_shape inspect_queue(sqlite::connection connection);

/// Creates what is missing and upgrades older shapes; harmless when all is there. Runs inside the
/// caller's write transaction, so that of many processes that start together one does the work.
/// `now` is in epoch seconds: pending jobs of later become scheduled.
///
/// Programs that know no scheduled state must be stopped before an upgrade. One that makes its
/// indexes again is upgraded again.
void create_queue(sqlite::connection connection, std::int64_t now);

} // namespace skein::store
