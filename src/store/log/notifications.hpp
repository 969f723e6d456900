#pragma once

#include "sqlite/statement.hpp"
#include "store/log/log_page.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A notification as a listener of its channel sees it.
struct notification {
    std::int64_t id = 0;
    std::string payload;
    std::int64_t created_at = 0; ///< epoch seconds
};

/// Notifications on channels, which need no making: a channel is the name that its notifications
/// carry. All channels share one sequence of numbers, so that gaps in those of one are normal.
/// Nothing removes notifications by itself. Times are epoch seconds.
///
/// What removes many takes at most so many at once, the oldest first, all of them when that is
/// negative, and returns how many: it is called again until it takes fewer.
class notifications {
public:
    notifications(sqlite::connection connection, family_shape shape);

    /// Returns the number, which no notification has had before. `payload` is JSON text that
    /// `require_json` accepts. Wants a write transaction.
    std::int64_t notify(std::string_view channel, std::string_view payload, std::int64_t now);

    /// The newest notification of the channel that is there; 0 when there is none. Only reads.
    [[nodiscard]] std::int64_t newest(std::string_view channel);

    /// The last number that any notification has got, be it there or not; 0 when there was none.
    /// A listener that starts behind it is told of everything that comes later, and of nothing that
    /// came earlier. Only reads.
    [[nodiscard]] std::int64_t last_id();

    /// At most `limit` notifications of the channel behind this number, in their order; all of them
    /// when `limit` is negative. Only reads.
    [[nodiscard]] std::vector<notification> read_since(std::string_view channel, std::int64_t id,
                                                       std::int64_t limit);

    /// As `read_since`, and what was removed, both of one state of the file. It may also stop at
    /// the length of a page. Only reads.
    [[nodiscard]] log_page<notification> look_since(std::string_view channel, std::int64_t id,
                                                    std::int64_t limit);

    /// The oldest notification of the channel that is there; 0 when there is none. Only reads.
    [[nodiscard]] std::int64_t oldest(std::string_view channel);

    /// The newest notification of the channel that is not there any more, whoever has removed it;
    /// 0 when there is none. Whoever has read up to a lower number has missed this one, and perhaps
    /// others between the two; whoever has not, has missed nothing. Nothing where the file lacks
    /// our additions: nobody knows then. Only reads.
    [[nodiscard]] std::optional<std::int64_t> newest_removed(std::string_view channel);

    /// Removes notifications of before this moment, on all channels. Wants a write transaction.
    std::int64_t purge(std::int64_t created_before, std::int64_t most);

    /// The newest notification of all channels but `kept` that are newer, which it walks past;
    /// nothing when there are no more than that. `kept` is not negative. Only reads.
    [[nodiscard]] std::optional<std::int64_t> newest_but(std::int64_t kept);

    /// Removes notifications up to this one, on all channels. Wants a write transaction.
    std::int64_t remove_through(std::int64_t id, std::int64_t most);

private:
    sqlite::connection connection_;
    family_shape shape_;
    sqlite::statement insert_;
    sqlite::statement newest_;
    sqlite::statement last_id_;
    sqlite::statement read_;
    sqlite::statement look_;
    sqlite::statement oldest_;
    sqlite::statement newest_removed_;
    sqlite::statement purge_;
    sqlite::statement newest_but_;
    sqlite::statement remove_through_;
};

} // namespace skein::store
