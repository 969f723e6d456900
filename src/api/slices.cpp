#include "api/slices.hpp"

#include "api/small_unit.hpp"

#include <optional>
#include <utility>

namespace skein::api {

removal removal_up_to(std::function<std::optional<std::int64_t>(runtime::batch&)> find_last,
                      std::function<std::int64_t(runtime::batch&, std::int64_t)> remove)
{
    // Each slice runs a copy of this. It tells the next one what it has found when that is
    // committed: what it was found among may be undone.
    const auto known = std::make_shared<std::optional<std::int64_t>>();
    return [find_last = std::move(find_last), remove = std::move(remove),
            known](runtime::batch& batch) -> std::int64_t {
        const std::optional<std::int64_t> last = *known ? *known : find_last(batch);
        batch.after_commit([known, last] { *known = last; });
        return last ? remove(batch, *last) : 0;
    };
}

namespace {

asio::awaitable<std::size_t> remove_each(std::shared_ptr<runtime::engine> engine,
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

} // namespace

asio::awaitable<std::size_t> remove_in_slices(std::shared_ptr<runtime::engine> engine,
                                              std::vector<removal> removals)
{
    engine->require_outside_callback();
    return remove_each(std::move(engine), std::move(removals));
}

} // namespace skein::api
