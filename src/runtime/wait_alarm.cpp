#include "runtime/wait_alarm.hpp"

#include <algorithm>
#include <utility>

namespace skein::runtime {

namespace {

// The wall clock may step while the steady clock waits: look at it again at least this often.
constexpr std::chrono::seconds longest_sleep{60};

// Clocks drift: it is a step, or as good as one, when they have come farther apart than this.
constexpr duration smallest_step = std::chrono::milliseconds{100};

/// How long to sleep when something is due at that moment. The difference of any two moments is
/// more than a duration can hold.
std::chrono::nanoseconds sleep_until(clock::wall_time due, clock::wall_time now)
{
    constexpr clock::wall_time last = clock::wall_time::max();
    const clock::wall_time latest = now < last - longest_sleep ? now + longest_sleep : last;
    return std::clamp(due, now, latest) - now;
}

} // namespace

wait_alarm::wait_alarm(waitlist& waiting, sqlite::connection connection, const home_process& home,
                       skein::clock& clock, std::unique_ptr<skein::alarm> alarm,
                       std::function<void()> on_time)
    : waiting_(waiting), connection_(connection), home_(home), clock_(clock),
      on_time_(std::move(on_time)), alarm_(std::move(alarm)), clock_distance_(clock_distance())
{
}

void wait_alarm::set()
{
    const clock::wall_time wall = clock_.wall_now();
    const clock::steady_time steady = clock_.steady_now();
    clock::steady_time at = steady + longest_sleep;
    if (const auto due = waiting_.next_due(connection_, wall)) {
        at = steady + sleep_until(*due, wall);
    }
    if (const auto limit = waiting_.next_limit()) {
        at = std::min(at, *limit);
    }
    if (!rings_at_ || at < *rings_at_) {
        rings_at_ = at;
        alarm_->set(at - steady, [this] { ring(); });
    }
}

void wait_alarm::clear()
{
    alarm_->clear();
    rings_at_.reset();
}

/// A child process that runs a context of its parent's gets here too.
void wait_alarm::ring()
{
    if (home_.is_left()) {
        return;
    }
    rings_at_.reset();
    pass_time();
    on_time_();
}

void wait_alarm::pass_time()
{
    waiting_.expire(clock_.steady_now());
    waiting_.mark_due(clock_.wall_now());
    notice_clock_step();
}

/// A date was told by a look at the wall clock. When that steps back, what the line waits for may
/// come long before it.
void wait_alarm::notice_clock_step()
{
    const duration distance = clock_distance();
    if (std::chrono::abs(distance - clock_distance_) > smallest_step) {
        // Before the lines look: a step that comes while they do is noticed the next time.
        clock_distance_ = distance;
        waiting_.mark_dated();
    }
}

duration wait_alarm::clock_distance() const noexcept
{
    return duration(clock_.wall_now().time_since_epoch()) -
           duration(clock_.steady_now().time_since_epoch());
}

} // namespace skein::runtime
