#include "runtime/watcher.hpp"

#include "sqlite/file_identity.hpp"

#include <algorithm>

namespace skein::runtime {

namespace {

constexpr std::chrono::microseconds longest_rest = std::chrono::milliseconds{100};

// Between the hint and the commit lies a sync of the disk, which seldom takes as long as the limit.
constexpr std::chrono::microseconds between_chasing_looks{100};
constexpr std::chrono::milliseconds longest_chase{100};

// So many hints, each sooner than a look at the fixed interval would have come, and so many looks
// without news: long enough that a few commits in a row do not change the pace.
constexpr int hints_in_a_burst = 16;
constexpr int looks_until_quiet = 16;

} // namespace

watcher::watcher(sqlite::connection connection, const home_process& home, clock& time,
                 const asio::any_io_executor& strand, std::chrono::microseconds interval,
                 std::unique_ptr<wal_hint> hint, std::function<void()> changed)
    : version_(connection), home_(home), time_(time), timer_(time.make_alarm(strand)),
      interval_(hint ? std::min(interval, longest_rest) : interval), hint_(std::move(hint)),
      changed_(std::move(changed)), has_others_(!sqlite::database_file(connection).empty())
{
}

void watcher::start()
{
    if (seen_ || !has_others_) {
        return;
    }
    if (hint_) {
        hint_->take(); // what comes after this is still there when it listens
    }
    seen_ = version_.read();
    if (hint_) {
        go_on(pace::resting);
        listen();
    } else {
        go_on(pace::fixed);
    }
    arm();
}

void watcher::stop() noexcept
{
    if (seen_) {
        seen_.reset();
        timer_->clear();
        if (hint_) {
            hint_->cancel();
        }
    }
}

/// Whoever has the lock has it alone: what was hinted at before our commit is visible by now. What
/// another begins right after it may be taken together with ours, so it looks again.
bool watcher::note_own_commit()
{
    if (!seen_ || pace_ == pace::fixed) {
        return false;
    }
    hint_->take();
    const bool is_news = has_changed();
    if (is_burst()) {
        hint_->cancel();
        go_on(pace::fixed);
    } else {
        go_on(pace::trailing);
    }
    arm();
    return is_news;
}

void watcher::arm()
{
    timer_->set(pause_, [this] { look(); });
}

void watcher::listen()
{
    hint_->await([this] { heed(); });
}

void watcher::look()
{
    if (home_.is_left()) {
        return;
    }
    bool is_news = has_changed();
    quiet_looks_ = is_news ? 0 : quiet_looks_ + 1;
    if (pace_ == pace::chasing && (is_news || time_.steady_now() >= chase_ends_)) {
        go_on(pace::resting);
    } else if (pace_ == pace::trailing) {
        pause_ *= 2;
        if (pause_ >= longest_rest) {
            go_on(pace::resting);
        }
    } else if (pace_ == pace::fixed && hint_ && quiet_looks_ >= looks_until_quiet) {
        hint_->take();
        is_news = has_changed();
        go_on(pace::resting);
        listen();
    }
    arm();
    if (is_news) {
        changed_();
    }
}

/// The log has been written to.
void watcher::heed()
{
    if (home_.is_left()) {
        return;
    }
    if (!hint_->take()) {
        listen(); // it was our own commit, which has been taken already
        return;
    }
    const bool is_news = has_changed();
    if (is_burst()) {
        go_on(pace::fixed);
    } else {
        // The news may be of an earlier commit than the hint.
        go_on(is_news ? pace::trailing : pace::chasing);
        listen();
    }
    arm();
    if (is_news) {
        changed_();
    }
}

bool watcher::has_changed()
{
    try {
        const std::int64_t now = version_.read();
        const bool is_news = now != *seen_;
        seen_ = now;
        return is_news;
    } catch (const sqlite::error&) {
        return true; // somebody is writing just now; the number that was seen last stays
    }
}

/// Counts one more hint.
bool watcher::is_burst()
{
    const clock::steady_time now = time_.steady_now();
    hints_in_a_row_ = now - last_hint_ < interval_ ? hints_in_a_row_ + 1 : 1;
    last_hint_ = now;
    return hints_in_a_row_ >= hints_in_a_burst;
}

void watcher::go_on(pace wanted)
{
    pace_ = wanted;
    switch (wanted) {
    case pace::fixed:
        pause_ = interval_;
        quiet_looks_ = 0;
        hints_in_a_row_ = 0;
        return;
    case pace::resting:
        pause_ = longest_rest;
        return;
    case pace::chasing:
        pause_ = between_chasing_looks;
        chase_ends_ = time_.steady_now() + longest_chase;
        return;
    case pace::trailing:
        pause_ = between_chasing_looks;
        return;
    }
}

} // namespace skein::runtime
