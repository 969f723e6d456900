#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skein::store {

/// What one look at a log (the notifications of a channel, the events of a topic) has found behind
/// some number.
template <class Entry>
struct log_page {
    std::vector<Entry> entries; ///< in their order; there may be more behind them
    /// The highest number of the channel or topic that is not there any more, whoever has removed
    /// it; 0 when there is none. Nothing where the file lacks our additions: nobody knows then.
    std::optional<std::int64_t> removed_through;
};

// A page ends with the entry that makes its payloads this long.
inline constexpr std::size_t longest_page = std::size_t{1} << 20U;

} // namespace skein::store
