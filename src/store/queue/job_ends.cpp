#include "store/queue/job_ends.hpp"

namespace skein::store {

job_ends::job_ends(sqlite::connection connection)
    : results_(connection), dead_(connection),
      find_live_(connection, "SELECT 1 FROM _honker_live WHERE id = ?1")
{
}

std::optional<job_end> job_ends::find(std::int64_t id, std::int64_t now)
{
    job_end end;
    end.result = results_.get(id, now);
    if (!end.result) {
        if (is_live(id)) {
            return std::nullopt;
        }
        // It may have been saved since the first look, together with the end of the job.
        end.result = results_.get(id, now);
    }
    if (!end.result) {
        end.death = dead_.find(id);
    }
    return end;
}

bool job_ends::is_live(std::int64_t id)
{
    return find_live_.start(id).step();
}

} // namespace skein::store
