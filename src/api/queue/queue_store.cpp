#include "api/queue/queue_store.hpp"

namespace skein::api {

queue_statements::queue_statements(sqlite::connection connection, store::queue_shape /*shape*/)
    : enqueuer(connection), keyed(connection), claimer(connection), forecast(connection),
      housekeeping(connection), finisher(connection), canceller(connection), changer(connection),
      held(connection), dead(connection), inspection(connection), results(connection),
      ends(connection),
      find_stop_requests(connection,
                         "SELECT 1 FROM sqlite_schema WHERE name = '_skein_stop_requests'"),
      savepoint(connection, "skein_queue")
{
}

void queue_store::touch_end(runtime::batch& batch, std::int64_t job_id)
{
    batch.touch_lines(end_of(job_id));
}

std::string queue_store::end_of(std::int64_t job_id)
{
    return "end of " + std::to_string(job_id) + '.'; // job 1 is not the beginning of job 12
}

} // namespace skein::api
