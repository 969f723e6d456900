#pragma once

#include "api/queue/queue_state.hpp"
#include "runtime/unit.hpp"

#include <skein/dead_letters.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skein::api {

/// Which dead letters of a queue something is done with, and what. Owns its texts.
struct dead_letter_task {
    enum class action { redrive, remove };

    action what = action::remove;
    store::dead_letter_limits limits = {};
    std::optional<std::string> last_error = {};
};

/// How far a task has come.
struct dead_letter_progress {
    store::dead_letter_position after;
    /// The last letter that is meant: fixed by the first slice, so that there is an end even where
    /// letters die as fast as they are redriven.
    std::optional<store::dead_letter_position> last;
    bool is_done = false;
};

/// A part of such a task. The result is what was done: without a `job_id` where letters were
/// removed.
class dead_letter_slice final : public runtime::unit {
public:
    using result_type = std::vector<redriven_job>;

    dead_letter_slice(std::shared_ptr<const queue_state> where,
                      std::shared_ptr<const dead_letter_task> task, dead_letter_progress begin)
        : where_(std::move(where)), task_(std::move(task)), begin_(begin)
    {
    }

    void run(runtime::batch& batch) override;

    result_type result;

    /// Where the next slice begins.
    [[nodiscard]] const dead_letter_progress& end() const noexcept { return end_; }

private:
    void redrive(runtime::batch& batch, const std::vector<std::int64_t>& ids);
    void remove(runtime::batch& batch, const std::vector<std::int64_t>& ids);

    std::shared_ptr<const queue_state> where_;
    std::shared_ptr<const dead_letter_task> task_;
    dead_letter_progress begin_;
    dead_letter_progress end_;
};

} // namespace skein::api
