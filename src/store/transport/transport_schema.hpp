#pragma once

#include "sqlite/connection.hpp"

#include <string>
#include <string_view>

namespace skein::store {

/// What `locked_by` holds while a message is parked; anything else there is a worker's.
inline constexpr std::string_view parked = "__parked__";

// Raised when our additions (not the format's own tables) change their shape.
inline constexpr int transport_additions_version = 1;

/// The names of one transport's tables, indexes and triggers, made from its prefix.
struct transport_names {
    /// Throws `store::invalid_argument` unless the prefix is an identifier of 1 to 30 characters.
    explicit transport_names(std::string_view prefix);

    std::string key; ///< the prefix in lower case: SQLite's names are equal whatever their case
    std::string messages;
    std::string groups;
    std::string by_last_claimed; ///< index of the format
    std::string by_group;        ///< index of the format
    std::string by_routing_key;  ///< index of the format
    std::string free_by_priority;
    std::string free_by_key;
    std::string free_by_key_and_priority;
    std::string blocked_by_time;
    std::string lock_changed; ///< trigger
    std::string lock_deleted; ///< trigger

    /// The name that the version of our additions is recorded under.
    [[nodiscard]] std::string addition() const { return "transport " + key; }
};

/// Which of a transport's tables, and which of their newer columns, a file has.
struct transport_tables {
    bool has_messages = false;
    bool has_groups = false;
    bool has_routing_keys = false;
    bool has_blocked_until = false; ///< a column of ours
};

/// What the file's tables allow.
enum class transport_shape {
    missing,  ///< not there, or of an older shape
    plain,    ///< the format's tables; somebody else owns the schema
    complete, ///< the format's tables and our additions: a claim costs the same however much waits
};

/// Look at the file without writing. Throw `schema_too_new` when our additions in it are newer than
/// this program.
[[nodiscard]] transport_tables find_transport(sqlite::connection connection,
                                              const transport_names& names);
[[nodiscard]] transport_shape inspect_transport(sqlite::connection connection,
                                                const transport_names& names);

/// Creates what is missing and upgrades older shapes; harmless when all is there. Runs inside the
/// caller's write transaction, so that of many processes that start together one does the work.
void create_transport(sqlite::connection connection, const transport_names& names);

} // namespace skein::store
