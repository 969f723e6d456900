#pragma once

#include <skein/clock.hpp>
#include <skein/export.hpp>

#include <exception>
#include <stdexcept>

namespace skein {

// What a handler throws to say more than that it has failed; see `run`.

/// No other attempt can go better: the job becomes a dead letter, with this text.
class SKEIN_EXPORT permanent_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Not now, but in `delay`: the job is put off, and the attempt does not count.
class SKEIN_EXPORT snooze : public std::exception {
public:
    /// `delay`: zero or negative means at once. A queue rounds it up to whole seconds.
    explicit snooze(duration delay) noexcept : delay_(delay) {}

    [[nodiscard]] duration delay() const noexcept { return delay_; }
    [[nodiscard]] const char* what() const noexcept override { return "snooze"; }

private:
    duration delay_;
};

} // namespace skein
