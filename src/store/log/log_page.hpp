#pragma once

#include "sqlite/statement.hpp"
#include "store/table_family.hpp"

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

/// Reads a page. One of the rows may have no payload: its first column is what was removed up to.
template <class Entry>
[[nodiscard]] log_page<Entry> read_page(sqlite::execution found, family_shape shape,
                                        int payload_column,
                                        Entry (*read_row)(const sqlite::execution&))
{
    log_page<Entry> page;
    if (shape == family_shape::complete) {
        page.removed_through = 0;
    }
    std::size_t length = 0;
    while (length < longest_page && found.step()) {
        if (found.is_null(payload_column)) {
            page.removed_through = found.integer(0);
        } else {
            page.entries.push_back(read_row(found));
            length += page.entries.back().payload.size();
        }
    }
    return page;
}

} // namespace skein::store
