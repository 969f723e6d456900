#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// `_skein_unique_jobs`: of each key of a queue the job that had it last. Whether that job still
/// holds the key is seen from the job itself and from the clock, so that claims and finishes, by
/// whatever program, cost and write nothing here; only a job that is gone takes its row with it.
/// Where the key stays taken for some time, the row stays until that is over.
[[nodiscard]] table_family unique_job_tables();

} // namespace skein::store
