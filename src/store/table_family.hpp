#pragma once

#include "sqlite/connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// The tables of one feature: what the format has, what we add to it, and how all of it is made.
struct table_family {
    /// The name that the version of our additions is recorded under, and that version. It rises
    /// when our additions (not the format's own tables) change their shape.
    std::string_view addition;
    int version = 1;
    std::vector<std::string_view> format;    ///< the names of the format's tables and indexes
    std::vector<std::string_view> additions; ///< the names of ours, triggers included
    std::vector<std::string> statements;     ///< make all of that, in their order
};

/// What the tables of a family in a file allow.
enum class family_shape {
    missing,  ///< not all of the format's are there
    plain,    ///< the format's; somebody else owns the schema
    complete, ///< the format's and our additions
};

/// Looks at the file without writing. Throws `schema_too_new` when our additions in it are newer
/// than this program.
[[nodiscard]] family_shape inspect_family(sqlite::connection connection,
                                          const table_family& family);

/// The statements that make what is missing, our additions and the record of their version
/// included, in their order. They belong into one write transaction; what is there already they
/// leave as it is.
[[nodiscard]] std::vector<std::string> completing_statements(const table_family& family);

/// Creates what is missing; harmless when all is there. Runs inside the caller's write transaction,
/// so that of many processes that start together one does the work.
void create_family(sqlite::connection connection, const table_family& family);

} // namespace skein::store
