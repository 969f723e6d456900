#pragma once

#include <skein/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein {

/// A message that waits, as `transport::counts` tells it.
struct waiting_message {
    std::int64_t seq = 0; ///< its place in the order of all messages
    std::string group;
};

/// How much there is in a transport. `messages` is the sum of `waiting`, `in_flight` and `parked`.
struct transport_counts {
    std::size_t messages = 0; ///< of every state
    std::size_t groups = 0;   ///< groups that have messages

    /// Messages of neither kind below: those that a claim may take now, and those behind another
    /// message of their group. One whose lease or delay has ended counts here.
    std::size_t waiting = 0;
    std::size_t in_flight = 0; ///< leases that hold
    std::size_t parked = 0;    ///< messages given back with a delay that is not over

    /// The first published of those that wait. When that was, the file does not tell.
    std::optional<waiting_message> oldest_waiting;

    /// How many of the groups are unknown to claims: their own row is missing. Another program, one
    /// that publishes in two commits, may be between them just now; one that does not go away is
    /// left from a program that died there, see `transport::repair`.
    std::size_t orphans = 0;
    /// Rows of groups that have no messages: left in the same way. Claims remove those they meet.
    std::size_t ghosts = 0;
};

/// What the oldest message of a group is doing; the others wait behind it.
enum class group_state {
    free,      ///< it can be claimed; also when there is none
    in_flight, ///< it is leased
    parked,    ///< it was given back with a delay
};

/// A group, as `transport::groups` tells it.
struct transport_group {
    std::string name;
    std::size_t messages = 0; ///< none: a ghost, see `transport_counts`
    int priority = 0;         ///< 0 to 4, unless another program wrote something else
    std::optional<std::string> routing_key;
    std::optional<clock::wall_time> last_claimed_at; ///< absent: not since its first message came
    group_state state = group_state::free;
    /// The end of the lease or the delay, at which it still holds; absent when the group is free.
    std::optional<clock::wall_time> until;
    /// Who claimed it, as told with the claim; empty unless it is in flight.
    std::string worker;
};

/// Which groups `transport::groups` tells.
struct groups_options {
    /// At most so many; at least 1. Other operations wait while a page is read: keep it small.
    std::size_t limit = 100;

    /// Those whose names come after this one: the last name of the page before. Absent: from the
    /// first on.
    std::optional<std::string_view> after = {};
};

} // namespace skein
