#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/dead_letters.hpp"
#include "store/queue/job_results.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace skein::store {

/// What a job has come to. With neither of both it is just gone: acknowledged without a result,
/// cancelled, or it has never been.
struct job_end {
    std::optional<std::string> result;
    std::optional<dead_letter> death;
};

/// Tells what jobs have come to. Only reads.
class job_ends {
public:
    explicit job_ends(sqlite::connection connection);

    /// The end of the job; nothing while it is live and has no result. A result ends it, wherever
    /// the job is. `now` is in epoch seconds.
    ///
    /// Needs no transaction: whatever others commit meanwhile, no result and no death is missed.
    [[nodiscard]] std::optional<job_end> find(std::int64_t id, std::int64_t now);

private:
    [[nodiscard]] bool is_live(std::int64_t id);

    job_results results_;
    dead_letters dead_;
    sqlite::statement find_live_;
};

} // namespace skein::store
