#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/transport_schema.hpp"

#include <cstdint>

namespace skein::store {

/// How many groups a repair has put right.
struct repaired_groups {
    int orphans = 0; ///< had messages and no row
    int ghosts = 0;  ///< had a row and no messages
};

/// Puts right what a program that publishes in two commits leaves behind when it dies between them.
class transport_repair {
public:
    transport_repair(sqlite::connection connection, const transport_names& names,
                     transport_shape shape);

    /// Adds the rows of orphans, in the order of their first messages, and removes ghosts. Wants a
    /// write transaction with a savepoint; looks at the head of every group.
    repaired_groups run();

private:
    sqlite::statement heal_orphans_;
    sqlite::statement remove_ghosts_;
};

} // namespace skein::store
