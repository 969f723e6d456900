#include "store/queue/job_canceller.hpp"

namespace skein::store {

namespace {

constexpr const char* remove =
    "DELETE FROM _honker_live WHERE id = ?1 AND state IN ('pending', 'scheduled', 'processing')";

} // namespace

job_canceller::job_canceller(sqlite::connection connection)
    : cancel_(connection, remove),
      cancel_in_queue_(connection, std::string(remove) + " AND queue = ?2")
{
}

bool job_canceller::cancel(std::int64_t id)
{
    return cancel_.run(id) == 1;
}

bool job_canceller::cancel(std::string_view queue, std::int64_t id)
{
    return cancel_in_queue_.run(id, queue) == 1;
}

} // namespace skein::store
