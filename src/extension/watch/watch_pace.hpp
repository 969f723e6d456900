#pragma once

#include <chrono>

namespace skein::extension {

/// When a file is to be looked at next.
///
/// A hint comes before the commit that it is of can be seen, so what follows it are looks every
/// 100 µs until there is news, for a limited time. News that came together with the hint may be of
/// an earlier commit: then the pauses grow instead.
class watch_pace {
public:
    using duration = std::chrono::nanoseconds;
    using time = std::chrono::steady_clock::time_point;

    /// How long to rest where nothing is on its way.
    static constexpr std::chrono::milliseconds rest{100};

    /// After each look.
    void note(bool is_hinted, bool is_news, time now) noexcept
    {
        if (is_hinted) {
            pause_ = shortest;
            chase_ends_ = now + rest;
            is_slowing_ = is_news;
        } else if (is_news) {
            chase_ends_ = now;
        } else if (is_slowing_) {
            pause_ *= 2;
        }
    }

    /// Until the next look, when it would otherwise be `usual`.
    [[nodiscard]] duration pause(duration usual, time now) const noexcept
    {
        return is_chasing(now) && pause_ < usual ? pause_ : usual;
    }

    /// Whether a hint is to end that pause. The shortest are over soon enough, so that beside a
    /// busy writer there are not more looks than those.
    [[nodiscard]] bool heeds_hints(time now) const noexcept
    {
        return !is_chasing(now) || pause_ > shortest;
    }

private:
    [[nodiscard]] bool is_chasing(time now) const noexcept { return now < chase_ends_; }

    static constexpr duration shortest = std::chrono::microseconds{100};

    duration pause_ = shortest;
    time chase_ends_{};
    bool is_slowing_ = false;
};

} // namespace skein::extension
