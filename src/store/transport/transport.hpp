#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/claimable_groups.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// Names one claim of one message. Every claim writes a new `locked_by`, so that a fence from an
/// earlier claim finds nothing.
struct message_fence {
    std::int64_t seq = 0;
    std::string group_id;
    std::string locked_by;
};

/// A message to be published.
struct new_message {
    std::string_view group_id;
    std::string_view payload;
    // These count only if the message creates the group's row.
    int priority = 0;
    std::optional<std::string_view> routing_key = std::nullopt;
    /// Whether the group's turn comes behind those that are there. Otherwise it comes first, as the
    /// format has it, also for a group that drains and is filled again and again.
    bool takes_last_turn = false;
};

/// Who claims, and for how long.
struct claim_request {
    std::string locked_by; ///< what no other claim has
    double visibility = 0; ///< seconds
};

/// A message that has been claimed.
struct claimed_message {
    message_fence fence;
    std::string payload;
    double expires_at = 0;
};

/// What a claim has found.
struct claim_result {
    std::vector<claimed_message> messages;
    /// False: the call has put so many groups right that it has stopped before its end. The next
    /// one, best in a transaction of its own, goes on.
    bool is_finished = true;
    /// Whether leases or parks were found to have ended, whatever their groups' keys: another
    /// filter may find something now.
    bool has_freed = false;
};

/// Ordered message groups: what a message is, and what may be done with it. Synchronous; times are
/// epoch seconds and are given by the caller. Every call but the reading ones wants a write
/// transaction, and one that takes several statements wants a savepoint around it.
class transport {
public:
    transport(sqlite::connection connection, const transport_names& names, transport_shape shape);

    /// Appends to the group.
    void publish(const new_message& message);

    /// Whether a claim would be worth a write transaction. Only reads.
    [[nodiscard]] bool has_work(const claim_filter& filter, double now);

    /// Leases messages until `now + visibility`, one for each request and in their order: the
    /// oldest ones of as many groups, of those whose turn it is. Returns fewer when no more groups
    /// that the filter accepts are free.
    [[nodiscard]] claim_result claim(const claim_filter& filter,
                                     std::span<const claim_request> requests, double now);

    /// Removes the message. False when the fence is stale: nothing has changed then, here and
    /// below.
    bool ack(const message_fence& fence);

    /// Gives the message back, claimable at once. Its group keeps its place in the rotation.
    bool release(const message_fence& fence);

    /// Gives the message back and blocks its group until `end`.
    bool park(const message_fence& fence, double end);

    /// Moves the end of the lease, also of one that has lapsed and that nobody has taken since.
    bool extend(const message_fence& fence, double end);

    /// The end of the earliest lease or park that still holds at `now`. Only reads.
    [[nodiscard]] std::optional<double> next_lapse(double now);

private:
    std::optional<claimed_message> free_head(const group_candidate& group, double now);
    void lease(const group_candidate& group, claimed_message& message, const claim_request& request,
               double stamp, double now);
    double largest_stamp();

    std::unique_ptr<claimable_groups> groups_;
    sqlite::statement insert_group_;
    sqlite::statement insert_group_last_;
    sqlite::statement insert_message_;
    sqlite::statement read_head_;
    sqlite::statement largest_stamp_;
    sqlite::statement lock_;
    sqlite::statement remove_group_;
    sqlite::statement remove_drained_group_;
    sqlite::statement remove_message_;
    sqlite::statement release_;
    sqlite::statement relock_;
};

/// Throw `store::invalid_argument`, naming the argument and what is accepted.
void require_priority(std::string_view argument, int priority);
void require_visibility(double visibility);

} // namespace skein::store
