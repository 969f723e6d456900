#pragma once

#include <absl/time/time.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::store {

/// What a zone's clocks show. Moments are epoch seconds; a local time is what the epoch seconds
/// would be if the clocks showed UTC. Both are of the years 1 to 9999.
class time_zone {
public:
    /// The zone of the process, as the C library knows it: TZ, or else the system's.
    time_zone() = default;

    explicit time_zone(const absl::TimeZone& zone) : zone_(zone) {}

    /// Seconds east of UTC.
    [[nodiscard]] std::int64_t offset_at(std::int64_t moment) const;

    [[nodiscard]] std::int64_t local_time(std::int64_t moment) const
    {
        return moment + offset_at(moment);
    }

private:
    std::optional<absl::TimeZone> zone_;
};

/// The zone of this name in the system's time zone database, or in the folder that TZDIR names; the
/// process's when it is empty. Throws `store::invalid_argument` that names it when there is none.
///
/// Abseil keeps what it found for a name for the life of the process, and also that it found
/// nothing: what a new version of the database brings is seen after a restart.
[[nodiscard]] time_zone find_time_zone(std::string_view name);

/// The moments at which a zone's clocks show a local time.
struct local_moments {
    enum class kind { once, missing, twice };

    kind found = kind::once;
    std::int64_t first = 0;  ///< or, of a missing one, the moment at which the clocks skip it
    std::int64_t second = 0; ///< the same as `first` but for one that is shown twice
    /// Where the clocks change around it: the local times from `begin` until before `end` are
    /// missing, or shown twice. Both are the local time itself when it is neither.
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

[[nodiscard]] local_moments moments_of(const time_zone& zone, std::int64_t local);

} // namespace skein::store
