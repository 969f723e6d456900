#include "api/slices.hpp"

#include "api/small_unit.hpp"

namespace skein::api {

namespace {

/// Removes until a slice is not full. All slices are of one removal, which may remember what it has
/// looked for; the last of them may outlive its caller.
asio::awaitable<std::size_t> remove_all(std::shared_ptr<runtime::engine> engine,
                                        std::shared_ptr<const removal> removing)
{
    const auto slice = [removing](runtime::batch& batch) { return (*removing)(batch); };
    std::size_t removed = 0;
    std::int64_t last = most_in_slice;
    while (last == most_in_slice) {
        last = co_await write(engine, slice);
        removed += static_cast<std::size_t>(last);
    }
    co_return removed;
}

} // namespace

asio::awaitable<std::size_t> remove_in_slices(std::shared_ptr<runtime::engine> engine,
                                              std::vector<removal> removals)
{
    std::size_t removed = 0;
    for (removal& each : removals) {
        const auto removing = std::make_shared<const removal>(std::move(each));
        removed += co_await remove_all(engine, removing);
    }
    co_return removed;
}

} // namespace skein::api
