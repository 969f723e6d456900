#include "store/queue/claimable_jobs.hpp"

namespace skein::store {

std::string ready_jobs()
{
    return std::string(" FROM _honker_live INDEXED BY _honker_live_ready"
                       " WHERE state = 'pending' AND queue = ?1 AND run_at <= ?2 AND ") +
           is_wanted;
}

} // namespace skein::store
