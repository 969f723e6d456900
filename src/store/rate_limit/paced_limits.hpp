#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// How fast permits come: one every `per / permits` microseconds, a fraction of a microsecond
/// counting as a whole one, so that they are never too many. `burst` of them may be saved up while
/// nobody takes any.
struct pace {
    std::int64_t permits = 1;
    std::int64_t per = 1'000'000; ///< microseconds
    std::int64_t burst = 1;
};

/// Throws `store::invalid_argument` unless all three are positive.
void require_pace(const pace& wanted);

/// What has come of asking for a permit.
struct permit_attempt {
    bool is_taken = false;
    /// When the next one is free, if nobody else takes it.
    std::int64_t free_at = 0;
    /// Whether it has pulled back what was too far ahead: others may be free earlier, too.
    bool is_pulled_back = false;
};

/// What a look at a limit has found.
struct permit_forecast {
    /// When the next permit is free: the moment of the look, or later.
    std::int64_t free_at = 0;
    /// Whether what is stored is too far ahead. Until a `try_take` has pulled it back, each look
    /// tells of a later time.
    bool must_pull_back = false;
};

/// Limits that pace: in no stretch of time are more permits taken than have come in it, and a
/// burst. What is kept of a limit is one time, its next arrival: when all of its burst will have
/// come again. A limit that nobody has used has all of it. Times are epoch *microseconds*; times
/// and bursts beyond some 140,000 years count as that long.
///
/// A limit needs no making: it is the name that is given, and each who uses it gives its pace.
///
/// The clock may be set back. A limit whose burst is used up has the farthest arrival that there
/// can be; one that is stored farther ahead was written under another clock, or another pace, and
/// is pulled back to it. So the next permit is never farther away than the pace makes it.
///
/// It needs our additions to the file.
class paced_limits {
public:
    explicit paced_limits(sqlite::connection connection);

    /// Takes a permit if there is one. `wanted` is such as `require_pace` accepts. Wants a write
    /// transaction, also to no avail: pulling back what is too far ahead must be kept.
    permit_attempt try_take(std::string_view name, const pace& wanted, std::int64_t now);

    /// When the next permit is free. Only reads, and so pulls nothing back.
    [[nodiscard]] permit_forecast look(std::string_view name, const pace& wanted, std::int64_t now);

    /// Forgets limits that have all of their burst, which are like those that nobody has used: at
    /// most so many, all of them when `most` is negative. Returns how many. Wants a write
    /// transaction.
    std::int64_t sweep(std::int64_t most, std::int64_t now);

private:
    std::optional<std::int64_t> stored_arrival(std::string_view name);

    sqlite::statement read_;
    sqlite::statement write_;
    sqlite::statement sweep_;
};

} // namespace skein::store
