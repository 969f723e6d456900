#include "store/queue/ack_list.hpp"

namespace skein::store {

// The list is turned into rows first: then each job is found by its number.
ack_list::ack_list(sqlite::connection connection)
    : remove_(connection,
              "WITH listed (id, attempt) AS MATERIALIZED"
              " (SELECT iif(type = 'array', json_extract(value, '$[0]'), atom),"
              " iif(type = 'array', json_extract(value, '$[1]'), NULL)"
              " FROM json_each(?1)"
              " WHERE type <> 'array' OR json_array_length(value) = 2)"
              " DELETE FROM _honker_live WHERE id IN (SELECT id FROM listed) AND worker_id = ?2"
              " AND (claim_expires_at >= ?3"
              " AND id IN (SELECT id FROM listed WHERE attempt IS NULL)"
              " OR state = 'processing' AND EXISTS (SELECT 1 FROM listed"
              " WHERE listed.id = _honker_live.id AND listed.attempt = _honker_live.attempts))")
{
}

std::int64_t ack_list::ack(std::string_view list, std::string_view worker_id, std::int64_t now)
{
    return remove_.run(list, worker_id, now);
}

} // namespace skein::store
