#pragma once

#include "store/schedule/schedule.hpp"

#include <skein/schedule.hpp>

namespace skein::api {

/// What users see of a row.
[[nodiscard]] schedule shown_schedule(store::schedule stored);

} // namespace skein::api
