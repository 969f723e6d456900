#pragma once

#include "runtime/batch.hpp"
#include "runtime/engine.hpp"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace skein::api {

// What is removed in one transaction: the write lock is held meanwhile.
inline constexpr std::int64_t most_in_slice = 500;

/// Removes at most `most_in_slice` rows of a table and returns how many. May be called again after
/// it was undone.
using removal = std::function<std::int64_t(runtime::batch&)>;

/// Removes what is numbered up to the number that `find_last` returns, if it does. It is looked for
/// once, since that walks past all that stays: by the first slice, for all of them.
[[nodiscard]] removal
removal_up_to(std::function<std::optional<std::int64_t>(runtime::batch&)> find_last,
              std::function<std::int64_t(runtime::batch&, std::int64_t)> remove);

/// Does one removal after the other, each slice by slice, in batches of their own, until a slice is
/// not full. Returns how many rows that has removed.
[[nodiscard]] asio::awaitable<std::size_t> remove_in_slices(std::shared_ptr<runtime::engine> engine,
                                                            std::vector<removal> removals);

} // namespace skein::api
