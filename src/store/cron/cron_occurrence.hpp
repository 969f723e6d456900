#pragma once

#include "store/cron/cron_expression.hpp"
#include "store/cron/time_zone.hpp"

#include <cstdint>
#include <optional>

namespace skein::store {

/// The first moment of an expression strictly after `after`, both in epoch seconds; nothing when
/// there is none within a hundred years, or before the year 10000. `zone` is the expression's, from
/// `find_time_zone`.
///
/// Without a zone the day must fit both its fields. With one it must fit either, when both restrict
/// it; a field that starts with * does not.
///
/// An expression whose hour field starts with * follows real time: it fires whenever the clocks
/// show a time that fits, in both passes of an hour that they repeat, and never in one that they
/// skip. Any other fires in the first pass alone; in place of the times that are skipped it fires
/// once, at the first moment behind them.
[[nodiscard]] std::optional<std::int64_t>
next_occurrence(const cron_expression& expression, const time_zone& zone, std::int64_t after);

} // namespace skein::store
