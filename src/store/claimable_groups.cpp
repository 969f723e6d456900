#include "store/claimable_groups.hpp"

#include "store/indexed_groups.hpp"
#include "store/walked_groups.hpp"

namespace skein::store {

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
