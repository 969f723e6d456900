#include "store/transport/claimable_groups.hpp"

#include "store/transport/indexed_groups.hpp"
#include "store/transport/walked_groups.hpp"

#include <algorithm>

namespace skein::store {

void take_rows(std::vector<group_candidate>& candidates, sqlite::execution found)
{
    while (found.step()) {
        candidates.push_back({found.integer(0), std::string(found.text(1)), found.real(2)});
    }
}

void keep_first(std::vector<group_candidate>& candidates, std::size_t most)
{
    std::sort(candidates.begin(), candidates.end(),
              [](const auto& left, const auto& right) { return left.precedes(right); });
    if (candidates.size() > most) {
        candidates.resize(most);
    }
}

std::unique_ptr<claimable_groups> make_claimable_groups(sqlite::connection connection,
                                                        const transport_names& names,
                                                        transport_shape shape)
{
    if (shape == transport_shape::complete) {
        return std::make_unique<indexed_groups>(connection, names);
    }
    return std::make_unique<walked_groups>(connection, names);
}

} // namespace skein::store
