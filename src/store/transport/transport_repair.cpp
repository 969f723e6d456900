#include "store/transport/transport_repair.hpp"

#include "store/transport/transport_inspection.hpp"

namespace skein::store {

transport_repair::transport_repair(sqlite::connection connection, const transport_names& names,
                                   transport_shape shape)
    : heal_orphans_(connection,
                    with_heads(names) + "INSERT INTO " + names.groups +
                        // A head may be leased or parked.
                        (shape == transport_shape::complete
                             ? " (group_id, blocked_until) SELECT m.group_id, m.lock_expiry"
                             : " (group_id) SELECT m.group_id") +
                        " FROM heads JOIN " + names.messages +
                        " m ON m.seq = heads.seq WHERE NOT EXISTS (SELECT 1 FROM " + names.groups +
                        " g WHERE g.group_id = m.group_id) ORDER BY m.seq"),
      remove_ghosts_(connection, "DELETE FROM " + names.groups +
                                     " WHERE NOT EXISTS (SELECT 1 FROM " + names.messages +
                                     " m WHERE m.group_id = " + names.groups + ".group_id)")
{
}

repaired_groups transport_repair::run()
{
    return {heal_orphans_.run(), remove_ghosts_.run()};
}

} // namespace skein::store
