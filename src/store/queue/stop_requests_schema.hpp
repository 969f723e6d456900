#pragma once

#include "store/table_family.hpp"

namespace skein::store {

/// `_skein_stop_requests`: the claims whose workers were asked to stop. A job that is gone takes
/// its row with it.
[[nodiscard]] table_family stop_request_tables();

} // namespace skein::store
