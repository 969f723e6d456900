#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// Throws `store::invalid_argument` unless both are positive.
void require_rate_limit(std::int64_t limit, std::int64_t per);

/// Limits that count in windows of `per` seconds, which lie side by side from the epoch on: in each
/// at most `limit` permits are taken. So twice as many may be taken around the end of one. Times
/// are epoch seconds.
///
/// Limits need no making. What is counted is a name in the window that begins at some time: two who
/// use one name with different windows count apart, except where two windows begin together.
class rate_limits {
public:
    explicit rate_limits(sqlite::connection connection);

    /// Takes a permit if there is one in the window of now. Returns whether there was; when not,
    /// nothing is written. `limit` and `per` are such as `require_rate_limit` accepts. Wants a
    /// write transaction.
    bool try_take(std::string_view name, std::int64_t limit, std::int64_t per, std::int64_t now);

    /// When the next permit is free: `now`, or the beginning of the next window. Only reads.
    [[nodiscard]] std::int64_t next_free(std::string_view name, std::int64_t limit,
                                         std::int64_t per, std::int64_t now);

    /// Forgets windows, of all names, that began more than `older_than` seconds ago: at most so
    /// many, all of them when `most` is negative. Returns how many. The window of now is forgotten
    /// too when it began that long ago: `older_than` should be longer than any window. Wants a
    /// write transaction.
    std::int64_t sweep(std::int64_t older_than, std::int64_t most, std::int64_t now);

private:
    sqlite::statement take_;
    sqlite::statement is_full_;
    sqlite::statement sweep_;
};

} // namespace skein::store
