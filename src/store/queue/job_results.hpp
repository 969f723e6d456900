#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::store {

/// What jobs have come to, kept under their numbers for whoever asks. Times are epoch seconds.
///
/// What removes many takes at most so many at once, all of them when that is negative, and returns
/// how many: it is called again until it takes fewer.
class job_results {
public:
    explicit job_results(sqlite::connection connection);

    /// Keeps a result, JSON text that `require_json` accepts, in the place of an earlier one: for
    /// `ttl` seconds, or until it is removed when that is not positive. There need be no such job.
    /// Wants a write transaction.
    void save(std::int64_t job_id, std::string_view value, std::int64_t ttl, std::int64_t now);

    /// The result as it was saved; nothing when there is none, or none any more. Only reads.
    [[nodiscard]] std::optional<std::string> get(std::int64_t job_id, std::int64_t now);

    /// Removes results whose time is over. Wants a write transaction.
    std::int64_t sweep(std::int64_t most, std::int64_t now);

    /// Removes results that were first saved before this moment, be their time over or not. Wants
    /// a write transaction.
    std::int64_t purge(std::int64_t saved_before, std::int64_t most);

    /// Removes results that `kept` others are newer than, which it walks past. `kept` is not
    /// negative. Wants a write transaction.
    std::int64_t keep_newest(std::int64_t kept, std::int64_t most);

private:
    sqlite::statement save_;
    sqlite::statement get_;
    sqlite::statement sweep_;
    sqlite::statement purge_;
    sqlite::statement keep_newest_;
};

} // namespace skein::store
