#pragma once

#include "api/queue/queue_source.hpp"
#include "runtime/batch.hpp"
#include "store/queue/queue_housekeeping.hpp"

#include <skein/observer.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace skein::api {

// Tell the observer, if there is one, what has happened to jobs in the batch. The queue's name is
// kept by its source, which the engine keeps.

void note_enqueued(runtime::batch& batch, const queue_source& queue,
                   std::span<const std::int64_t> ids, job_origin origin);

void note_cancelled(runtime::batch& batch, std::string_view queue, std::int64_t id);

void note_buried(runtime::batch& batch, const queue_source& queue,
                 const std::vector<store::buried_job>& buried);

} // namespace skein::api
