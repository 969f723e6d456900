#include "store/transport/transport.hpp"

#include "store/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skein::store {

namespace {

constexpr std::string_view fenced = " WHERE seq = ?1 AND group_id = ?2 AND locked_by = ?3";

// How many groups one claim frees or removes: other programs may leave any number of them, and
// nobody else can write meanwhile.
constexpr std::size_t most_put_right = 256;

/// The stamps of claims rise strictly, also when the clock stands still or steps back: otherwise
/// the same group would be first again and again. They never run ahead of the clock by more than
/// the smallest step that a double can hold.
double next_stamp(double largest, double now)
{
    return std::max(now, std::nextafter(largest, std::numeric_limits<double>::infinity()));
}

} // namespace

transport::transport(sqlite::connection connection, const transport_names& names,
                     transport_shape shape)
    : groups_(make_claimable_groups(connection, names, shape)),
      insert_group_(connection, "INSERT INTO " + names.groups +
                                    " (group_id, priority, routing_key) VALUES (?1, ?2, ?3)"
                                    " ON CONFLICT (group_id) DO NOTHING"),
      insert_group_last_(
          connection, "INSERT INTO " + names.groups +
                          " (group_id, priority, routing_key, last_claimed_at)"
                          " VALUES (?1, ?2, ?3, (SELECT coalesce(max(last_claimed_at), 0) FROM " +
                          names.groups + ")) ON CONFLICT (group_id) DO NOTHING"),
      insert_message_(connection,
                      "INSERT INTO " + names.messages + " (group_id, event) VALUES (?1, ?2)"),
      read_head_(connection, "SELECT seq, event, locked_by IS NOT NULL, lock_expiry FROM " +
                                 names.messages + " WHERE group_id = ?1 ORDER BY seq LIMIT 1"),
      largest_stamp_(connection, "SELECT max(last_claimed_at) FROM " + names.groups),
      lock_(connection,
            "UPDATE " + names.messages + " SET locked_by = ?2, lock_expiry = ?3 WHERE seq = ?1"),
      remove_group_(connection, "DELETE FROM " + names.groups + " WHERE rowid = ?1"),
      remove_drained_group_(connection, "DELETE FROM " + names.groups +
                                            " WHERE group_id = ?2 AND EXISTS (SELECT 1 FROM " +
                                            names.messages + std::string(fenced) +
                                            ") AND NOT EXISTS (SELECT 1 FROM " + names.messages +
                                            " WHERE group_id = ?2 AND seq <> ?1)"),
      remove_message_(connection, "DELETE FROM " + names.messages + std::string(fenced)),
      release_(connection, "UPDATE " + names.messages +
                               " SET locked_by = NULL, lock_expiry = NULL" + std::string(fenced)),
      relock_(connection, "UPDATE " + names.messages + " SET locked_by = ?4, lock_expiry = ?5" +
                              std::string(fenced))
{
}

void transport::publish(const new_message& message)
{
    // The group first: a message without its group's row would be invisible.
    sqlite::statement& insert = message.takes_last_turn ? insert_group_last_ : insert_group_;
    insert.run(message.group_id, message.priority, message.routing_key);
    insert_message_.run(message.group_id, message.payload);
}

bool transport::has_work(const claim_filter& filter, double now)
{
    return groups_->has_work(filter, now);
}

claim_result transport::claim(const claim_filter& filter, std::span<const claim_request> requests,
                              double now)
{
    claim_result result;
    std::vector<claimed_message>& claimed = result.messages;
    double stamp = 0;
    std::size_t put_right = 0;
    bool goes_on = true;
    while (goes_on && claimed.size() < requests.size()) {
        if (put_right >= most_put_right) {
            result.is_finished = false;
            return result;
        }
        const std::size_t freed = groups_->free_lapsed(now);
        // Where one group was to be put right there may be many.
        const auto turns = groups_->next(filter, now, requests.size() - claimed.size() + put_right);
        for (const group_candidate& group : turns) {
            if (claimed.size() == requests.size()) {
                break;
            }
            if (std::optional<claimed_message> head = free_head(group, now)) {
                stamp = next_stamp(claimed.empty() ? largest_stamp() : stamp, now);
                lease(group, *head, requests[claimed.size()], stamp, now);
                claimed.push_back(*std::move(head));
            } else {
                ++put_right;
            }
        }
        put_right += freed;
        result.has_freed = result.has_freed || freed != 0;
        goes_on = freed != 0 || !turns.empty();
    }
    return result;
}

/// The group's oldest message. When there is none, or it turns out to be leased, the group's row is
/// put right instead: another program may have left it so.
std::optional<claimed_message> transport::free_head(const group_candidate& group, double now)
{
    sqlite::execution head = read_head_.start(group.group_id);
    if (!head.step()) {
        remove_group_.run(group.rowid);
        return std::nullopt;
    }
    if (head.integer(2) != 0 && !head.is_null(3) && head.real(3) >= now) {
        groups_->set_blocked(group, head.real(3));
        return std::nullopt;
    }
    claimed_message message;
    message.fence.seq = head.integer(0);
    message.fence.group_id = group.group_id;
    message.payload = head.text(1);
    return message;
}

void transport::lease(const group_candidate& group, claimed_message& message,
                      const claim_request& request, double stamp, double now)
{
    message.expires_at = now + request.visibility;
    message.fence.locked_by = request.locked_by;
    // The group first: the message's trigger then finds its row right.
    groups_->set_claimed(group, stamp, message.expires_at);
    lock_.run(message.fence.seq, request.locked_by, message.expires_at);
}

double transport::largest_stamp()
{
    sqlite::execution found = largest_stamp_.start();
    found.step();
    return found.real(0);
}

bool transport::ack(const message_fence& fence)
{
    // The drained group goes first: the message's trigger then finds no row to keep right.
    remove_drained_group_.run(fence.seq, fence.group_id, fence.locked_by);
    return remove_message_.run(fence.seq, fence.group_id, fence.locked_by) == 1;
}

bool transport::release(const message_fence& fence)
{
    return release_.run(fence.seq, fence.group_id, fence.locked_by) == 1;
}

bool transport::park(const message_fence& fence, double end)
{
    return relock_.run(fence.seq, fence.group_id, fence.locked_by, parked, end) == 1;
}

bool transport::extend(const message_fence& fence, double end)
{
    return relock_.run(fence.seq, fence.group_id, fence.locked_by, fence.locked_by, end) == 1;
}

std::optional<double> transport::next_lapse(double now)
{
    return groups_->next_lapse(now);
}

void require_priority(std::string_view argument, int priority)
{
    if (priority < 0 || priority > 4) {
        throw invalid_argument(std::string(argument) + ": " + std::to_string(priority) +
                               " is not accepted; 0 to 4 is");
    }
}

void require_visibility(double visibility)
{
    if (!(visibility >= 0)) {
        throw invalid_argument("visibility: " + std::to_string(visibility) +
                               " s is not accepted; zero and more is");
    }
}

} // namespace skein::store
