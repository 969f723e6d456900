#include "store/queue/stop_requests.hpp"

namespace skein::store {

stop_requests::stop_requests(sqlite::connection connection)
    : request_(connection, "INSERT INTO _skein_stop_requests (id, attempts) SELECT id, attempts"
                           " FROM _honker_live WHERE id = ?1 AND queue = ?2"
                           " AND state = 'processing'"
                           " ON CONFLICT (id) DO UPDATE SET attempts = excluded.attempts"),
      find_(connection, "SELECT 1 FROM _skein_stop_requests WHERE id = ?1 AND attempts = ?2")
{
}

bool stop_requests::request(std::string_view queue, std::int64_t id)
{
    return request_.run(id, queue) == 1;
}

bool stop_requests::is_requested(std::int64_t id, std::int64_t attempt)
{
    return find_.start(id, attempt).step();
}

} // namespace skein::store
