#pragma once

#include <skein/backoff.hpp>
#include <skein/clock.hpp>
#include <skein/handler.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace skein::worker {

/// Why a handler was cancelled.
enum class cancel_reason { none, lost, stop_requested, time_limit, stopping };

/// What a worker does with a job, or a message, once its handler has ended.
struct verdict {
    enum class kind { done, retry, bury, put_off, give_back };

    kind what = kind::give_back;
    duration delay{0};                 ///< until it is due again
    std::string reason;                ///< why it was not done
    std::optional<std::string> result; ///< what is kept
};

/// What is given back unfinished, because of a stop.
[[nodiscard]] verdict interrupted();

/// What came of writing it down. What is not ours any more is lost: nothing has changed then.
enum class task_end { lost, finished, retried, dead, snoozed, given_back };

/// What comes of it when nobody else has the job, or the message, by then.
[[nodiscard]] task_end end_of(verdict::kind what) noexcept;

/// `attempt`: counted from 1. `random`: 0 to 1.
[[nodiscard]] verdict judge(handled came, cancel_reason why, std::int64_t attempt,
                            const backoff& pauses, double random);

} // namespace skein::worker
