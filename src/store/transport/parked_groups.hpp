#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/transport_schema.hpp"

#include <string_view>

namespace skein::store {

/// Groups that wait because their oldest message was given back with a delay.
class parked_groups {
public:
    parked_groups(sqlite::connection connection, const transport_names& names);

    /// Frees the group's head if it is parked at `now`, in epoch seconds. False when it is not:
    /// nothing has changed then. Wants a write transaction.
    bool unpark(std::string_view group_id, double now);

private:
    sqlite::statement unpark_;
};

} // namespace skein::store
