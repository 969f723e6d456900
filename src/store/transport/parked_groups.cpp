#include "store/transport/parked_groups.hpp"

namespace skein::store {

parked_groups::parked_groups(sqlite::connection connection, const transport_names& names)
    : unpark_(connection, "UPDATE " + names.messages +
                              " SET locked_by = NULL, lock_expiry = NULL"
                              " WHERE seq = (SELECT min(seq) FROM " +
                              names.messages +
                              " WHERE group_id = ?1) AND locked_by = ?2 AND lock_expiry >= ?3")
{
}

bool parked_groups::unpark(std::string_view group_id, double now)
{
    return unpark_.run(group_id, parked, now) == 1;
}

} // namespace skein::store
