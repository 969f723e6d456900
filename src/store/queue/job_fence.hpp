#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skein::store {

/// Names one claim of one job. With `attempts` it is a fence: every claim raises that number, and
/// nothing lowers it, so that the fence of an earlier claim finds nothing, whoever holds the job
/// now. It holds until then, also after the lease has lapsed.
///
/// Without, it is what programs use that know only their own name: it holds until the lease lapses,
/// and it cannot tell two claims of one worker apart.
struct job_fence {
    std::int64_t id = 0;
    std::string worker_id;
    std::optional<std::int64_t> attempts = std::nullopt;
};

} // namespace skein::store
