#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/claimable_groups.hpp"

#include <string_view>

namespace skein::store {

/// Groups of a file that has our additions: every question is one look into an index over the
/// free, or the blocked, groups. Its cost does not grow with what waits, is leased or parked, is
/// under the floor or has another key.
class indexed_groups final : public claimable_groups {
public:
    indexed_groups(sqlite::connection connection, const transport_names& names);

    bool has_work(const claim_filter& filter, double now) override;
    std::size_t free_lapsed(double now) override;
    std::vector<group_candidate> next(const claim_filter& filter, double now,
                                      std::size_t most) override;
    std::optional<double> next_lapse(double now) override;
    void set_blocked(const group_candidate& group, double end) override;
    void set_claimed(const group_candidate& group, double stamp, double end) override;

private:
    using group_candidates = std::vector<group_candidate>;

    void probe_any_key(group_candidates& found, int min_priority, std::int64_t most);
    void probe_key(group_candidates& found, std::optional<std::string_view> key, int min_priority,
                   std::int64_t most);
    bool any_lapsed(double now);

    sqlite::statement any_lapsed_;
    sqlite::statement free_lapsed_;
    sqlite::statement next_lapse_;
    sqlite::statement by_priority_;
    sqlite::statement by_key_;
    sqlite::statement by_key_and_priority_;
    sqlite::statement set_blocked_;
    sqlite::statement set_claimed_;
};

} // namespace skein::store
