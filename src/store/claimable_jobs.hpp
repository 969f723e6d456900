#pragma once

#include <string>

namespace skein::store {

/// Of live jobs: whether there is an attempt left and the job has not expired at `?2`.
inline constexpr const char* is_wanted =
    "(attempts < max_attempts AND (expires_at IS NULL OR expires_at > ?2))";

/// The jobs of queue `?1` that are ready at `?2`, after a SELECT and in the index's order. One that
/// somebody made pending for a later time is there, too, and has to wait for it.
inline std::string ready_jobs()
{
    return std::string(" FROM _honker_live INDEXED BY _honker_live_ready"
                       " WHERE state = 'pending' AND queue = ?1 AND run_at <= ?2 AND ") +
           is_wanted;
}

} // namespace skein::store
