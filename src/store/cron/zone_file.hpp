#pragma once

#include "store/cron/zone_rule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// When the clocks of a zone change, as its file in the system's time zone database says (RFC
/// 8536).
struct zone_history {
    struct change {
        std::int64_t moment = 0; ///< epoch seconds
        std::int64_t offset = 0; ///< seconds east of UTC from then on
    };

    std::int64_t first_offset = 0; ///< before the first change
    std::vector<change> changes;   ///< in their order
    std::optional<zone_rule> rule; ///< behind the last change

    [[nodiscard]] std::int64_t offset_at(std::int64_t moment) const;
};

/// Reads the content of such a file; nothing when it is none, or one that counts leap seconds.
[[nodiscard]] std::optional<zone_history> parse_zone_file(std::string_view bytes);

/// Finds "Europe/Berlin" in the folder that TZDIR names, or else in the system's. Nothing when
/// there is no such zone. Reads the file anew each time: it changes when laws do.
[[nodiscard]] std::optional<zone_history> read_zone_file(std::string_view name);

} // namespace skein::store
