#include "store/queue/dead_letter_room.hpp"

namespace skein::store {

dead_letter_room::dead_letter_room(sqlite::connection connection)
    : find_(connection, "SELECT 1 FROM _honker_dead WHERE id = ?1"
                        " AND EXISTS (SELECT 1 FROM _honker_live WHERE id = ?1)"),
      move_(connection, "UPDATE _honker_dead SET id = 1 + max((SELECT max(id) FROM _honker_dead),"
                        " (SELECT max(seq) FROM sqlite_sequence WHERE name = '_honker_live'))"
                        " WHERE id = ?1"),
      count_(connection, "UPDATE sqlite_sequence SET seq = max(seq, (SELECT max(id) FROM"
                         " _honker_dead)) WHERE name = '_honker_live'")
{
}

void dead_letter_room::make(std::int64_t id)
{
    const bool is_taken = find_.start(id).step();
    if (is_taken) {
        move_.run(id);
        count_.run(); // no job is to get that number
    }
}

} // namespace skein::store
