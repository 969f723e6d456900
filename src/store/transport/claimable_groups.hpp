#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/transport_schema.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skein::store {

/// Which groups a claim accepts.
struct claim_filter {
    /// Groups of a lower priority are left alone; 0 to 4.
    int min_priority = 0;
    /// Absent: groups of any key, or none. Present: only groups of one of these keys, so an empty
    /// list matches nothing.
    std::optional<std::vector<std::string>> routing_keys;
    /// With routing keys: groups that have none are accepted too.
    bool or_without_key = false;
};

/// A group that may be claimed, as far as its own row tells.
struct group_candidate {
    std::int64_t rowid = 0;
    std::string group_id;
    double last_claimed_at = 0;

    /// Whether this group's turn comes before the other's: the least recently claimed goes first,
    /// ties go by arrival.
    [[nodiscard]] bool precedes(const group_candidate& other) const noexcept
    {
        return last_claimed_at != other.last_claimed_at ? last_claimed_at < other.last_claimed_at
                                                        : rowid < other.rowid;
    }
};

/// Knows whose turn it is among the groups of a transport. Times are epoch seconds.
class claimable_groups {
public:
    claimable_groups() = default;
    claimable_groups(const claimable_groups&) = delete;
    claimable_groups& operator=(const claimable_groups&) = delete;
    virtual ~claimable_groups() = default;

    /// Whether a claim is worth a write transaction. Only reads.
    [[nodiscard]] virtual bool has_work(const claim_filter& filter, double now) = 0;

    /// Notes which leases and parks have ended at `now`, a bounded number of them. Returns how
    /// many: if there were any, there may be more.
    virtual std::size_t free_lapsed(double now) = 0;

    /// The groups whose turn it is, in that order; at most `most` of them. Their heads may turn out
    /// to be missing or still leased, when another program has written the file.
    [[nodiscard]] virtual std::vector<group_candidate> next(const claim_filter& filter, double now,
                                                            std::size_t most) = 0;

    /// The end of the earliest lease or park that still holds at `now`.
    [[nodiscard]] virtual std::optional<double> next_lapse(double now) = 0;

    /// Notes that a group was found leased or parked until `end`.
    virtual void set_blocked(const group_candidate& group, double end) = 0;

    /// Notes a claim: its stamp, and the end of its lease.
    virtual void set_claimed(const group_candidate& group, double stamp, double end) = 0;
};

/// Adds what a probe for candidates has found: rowid, group_id, last_claimed_at.
void take_rows(std::vector<group_candidate>& candidates, sqlite::execution found);

/// Puts what several probes have found into the order of turns, and forgets all but the first.
void keep_first(std::vector<group_candidate>& candidates, std::size_t most);

/// The right kind for what the file's tables allow.
[[nodiscard]] std::unique_ptr<claimable_groups> make_claimable_groups(sqlite::connection connection,
                                                                      const transport_names& names,
                                                                      transport_shape shape);

} // namespace skein::store
