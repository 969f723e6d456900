#pragma once

#include "store/schedule/schedule_rows.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace skein::store {

/// What has come due of a schedule.
struct due_moments {
    std::vector<std::int64_t> firing; ///< those that get their jobs, in their order
    /// The first moment after all that are due; nothing when the schedule ends before it.
    std::optional<std::int64_t> next;
};

/// `due` is what the clock says, in epoch seconds. The number of runs is not looked at, and not
/// whether the schedule is enabled. An @every of our table keeps its pace when moments are left
/// out; one of the shared table starts anew from `due`, as it does for every program.
///
/// Throws `store::invalid_argument` for an expression that cannot be read, or for one of the shared
/// table that has no further moment.
[[nodiscard]] due_moments moments_due(const schedule_row& row, std::int64_t due);

} // namespace skein::store
