#pragma once

#include "sqlite/statement.hpp"
#include "store/transport/claimable_groups.hpp"

namespace skein::store {

/// Groups of a file whose schema somebody else owns and that lacks our additions: the walk over
/// all groups in the order of fairness is right, but its cost grows with those it passes.
class walked_groups final : public claimable_groups {
public:
    walked_groups(sqlite::connection connection, const transport_names& names);

    bool has_work(const claim_filter& filter, double now) override;
    std::size_t free_lapsed(double /*now*/) override { return 0; }
    std::vector<group_candidate> next(const claim_filter& filter, double now,
                                      std::size_t most) override;
    std::optional<double> next_lapse(double now) override;
    void set_blocked(const group_candidate& /*group*/, double /*end*/) override {}
    void set_claimed(const group_candidate& group, double stamp, double end) override;

private:
    sqlite::statement of_any_key_;
    sqlite::statement of_key_;
    sqlite::statement next_lapse_;
    sqlite::statement set_claimed_;
};

} // namespace skein::store
