#pragma once

#include "store/transport/transport_schema.hpp"

namespace skein::store {

/// Makes the tables `messages` and `groups` of the format's first versions, or `messages` alone,
/// those of this transport, and upgrades them. Wants a write transaction with a savepoint.
///
/// False when there are none, or when they have not exactly the format's columns. Throws
/// `store::invalid_argument` when the transport has messages of its own; empty tables of its own
/// give way, but no number that they have used is used again.
bool adopt_unprefixed(sqlite::connection connection, const transport_names& names);

} // namespace skein::store
