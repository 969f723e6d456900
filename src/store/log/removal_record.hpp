#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A table that remembers the highest number that was taken out of a log, for each name in it. The
/// numbers of a log are shared by all its names, so that gaps tell nothing: only with this can
/// somebody who has read up to a number know whether something behind it is gone.
///
/// Triggers keep it, so that it is right whoever deletes.
struct removal_record {
    std::string_view log;    ///< the table
    std::string_view name;   ///< the column of its names
    std::string_view number; ///< the column of its numbers, the primary key
    std::string_view table;  ///< the table to be made, with the columns `name` and `last`
    std::string_view deleted_trigger;
    std::string_view moved_trigger;
};

/// The statements that make it. They do nothing when it is there.
[[nodiscard]] std::vector<std::string> removal_statements(const removal_record& record);

} // namespace skein::store
