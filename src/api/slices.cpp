#include "api/slices.hpp"

#include "api/small_unit.hpp"

namespace skein::api {

asio::awaitable<std::size_t> remove_in_slices(std::shared_ptr<runtime::engine> engine,
                                              std::vector<removal> removals)
{
    std::size_t removed = 0;
    for (const removal& each : removals) {
        std::int64_t last = most_in_slice;
        while (last == most_in_slice) {
            last = co_await write(engine, each);
            removed += static_cast<std::size_t>(last);
        }
    }
    co_return removed;
}

} // namespace skein::api
