#pragma once

#include <string>

namespace skein::store {

/// Of live jobs: whether there is an attempt left and the job has not expired at `?2`.
inline constexpr const char* is_wanted =
    "(attempts < max_attempts AND (expires_at IS NULL OR expires_at > ?2))";

/// The jobs of queue `?1` that are ready at `?2`, after a SELECT and in the index's order. One that
/// somebody made pending for a later time is there, too, and has to wait for it.
[[nodiscard]] std::string ready_jobs();

} // namespace skein::store
