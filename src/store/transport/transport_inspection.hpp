#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/transport_schema.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// How much there is in a transport, see `skein::transport_counts`.
struct message_counts {
    std::int64_t messages = 0;
    std::int64_t groups = 0;
    std::int64_t in_flight = 0;
    std::int64_t parked = 0;
    std::int64_t orphans = 0;
    std::int64_t ghosts = 0;

    struct numbered {
        std::int64_t seq = 0;
        std::string group_id;
    };
    std::optional<numbered> oldest_waiting;
};

/// A group's row and what there is of its messages. Times are epoch seconds.
struct inspected_group {
    std::string group_id;
    std::int64_t messages = 0;
    std::int64_t priority = 0;
    std::optional<std::string> routing_key;
    double last_claimed_at = 0;
    /// The lock that the head is under, if it still holds.
    struct held_lock {
        std::string locked_by;
        double expiry = 0;
    };
    std::optional<held_lock> lock;
};

/// Looks at a transport without changing anything, also where its tables are of an older shape. A
/// caller that asks for several things at once reads in one transaction.
class transport_inspection {
public:
    /// `tables` are what the file has just now; a newer shape of them is still understood later.
    transport_inspection(sqlite::connection connection, const transport_names& names,
                         const transport_tables& tables);

    /// Whether something could be told of newer tables that is not told of these.
    [[nodiscard]] bool is_of_older_shape() const noexcept { return is_of_older_shape_; }

    /// Reads the head of every group, and an index of all messages.
    [[nodiscard]] message_counts counts(double now);

    /// At most `limit` groups, those after `after`, by name. Reads them and their index entries.
    [[nodiscard]] std::vector<inspected_group>
    groups(std::int64_t limit, std::optional<std::string_view> after, double now);

private:
    bool is_of_older_shape_;
    sqlite::statement count_messages_;
    sqlite::statement count_rows_;
    sqlite::statement count_groups_;
    sqlite::statement find_oldest_;
    sqlite::statement read_groups_;
};

/// The number of each group's oldest message as a recursive common table expression, `heads (seq)`:
/// one look into an index for each group, however many messages it has. Its last row is NULL.
[[nodiscard]] std::string with_heads(const transport_names& names);

} // namespace skein::store
