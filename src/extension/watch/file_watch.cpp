#include "extension/watch/file_watch.hpp"

#include "extension/watch/fork_guard.hpp"
#include "extension/watch/quiet_thread.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace skein::extension {

namespace {

/// Between two looks at where the names lead.
constexpr std::chrono::milliseconds between_checks{100};

/// Nobody else can be told: those who wait learn only that it is over.
void tell_of_loss(const std::string& path) noexcept
{
    std::fprintf(stderr, "skein: %s has been deleted or replaced; its update watchers have ended\n",
                 path.c_str());
}

} // namespace

file_watch::~file_watch()
{
    if (thread_.joinable()) {
        thread_.join();
    }
}

bool file_watch::join(const watcher_request& request, const std::shared_ptr<wake_flag>& flag)
{
    newcomer self{watch_member(request, flag), false, nullptr};
    std::unique_lock lock(mutex_);
    if (is_over_) {
        return false;
    }
    waiting_.push_back(&self);
    if (!thread_.joinable()) {
        try {
            thread_ = start_quiet_thread([this] { run(); });
        } catch (...) {
            waiting_.clear();
            throw;
        }
    }
    pause_.interrupt();
    decided_.wait(lock, [&] { return self.is_decided; });
    if (self.refusal) {
        std::rethrow_exception(self.refusal);
    }
    return true;
}

void file_watch::leave(const wake_flag& flag) noexcept
{
    const std::lock_guard lock(mutex_);
    members_.remove(flag);
    pause_.interrupt();
}

void file_watch::run() noexcept
{
    std::unique_lock lock(mutex_);
    while (!waiting_.empty() || !members_.is_empty()) {
        const newcomers waiting = std::exchange(waiting_, {});
        lock.unlock();
        go_round(waiting);
        lock.lock();
        if (waiting_.empty() && !members_.is_empty()) {
            rest(lock);
        }
    }
    is_over_ = true;
    lock.unlock();
    const auto no_fork = hold_forks();
    file_.close();
}

/// The lock is held, but for the look.
void file_watch::go_round(newcomers waiting) noexcept
{
    std::unique_lock lock(mutex_);
    prepare_hints(waiting);
    const bool is_hinted = hints_ && hints_->take();
    try {
        const bool is_news = look(waiting, lock);
        if (is_news) {
            members_.wake();
        }
        pace_.note(is_hinted, is_news, std::chrono::steady_clock::now());
        if (has_lost_file(!waiting.empty())) {
            waiting_.insert(waiting_.end(), waiting.begin(), waiting.end());
        } else {
            admit(waiting);
        }
    } catch (...) {
        if (!lock.owns_lock()) {
            lock.lock();
        }
        members_.wake(); // whatever may have happened
        for (newcomer* const each : waiting) {
            decide(*each, std::current_exception());
        }
    }
}

/// Returns whether there is news.
bool file_watch::look(const newcomers& waiting, std::unique_lock<std::mutex>& lock)
{
    const bool is_found = file_.is_open() || is_file_found(waiting);
    if (!waiting.empty()) {
        file_.retry_now();
    }
    lock.unlock();
    auto no_fork = hold_forks();
    bool is_news = file_.look();
    if (file_.is_open() && !is_found) {
        // It has come since its names were followed: the next round knows which file it is.
        file_.close();
        is_news = false;
    }
    no_fork.unlock();
    lock.lock();
    return is_news;
}

bool file_watch::is_file_found(const newcomers& waiting)
{
    bool is_found = members_.find_file();
    for (newcomer* const each : waiting) {
        each->wanted.find_file();
        is_found = is_found && each->wanted.file.is_known();
    }
    return is_found;
}

/// Whether the last members have lost their file, so that nobody wants the connection any more.
bool file_watch::has_lost_file(bool is_asked) noexcept
{
    const auto now = std::chrono::steady_clock::now();
    if (now < next_check_ && !is_asked) {
        return false;
    }
    next_check_ = now + between_checks;
    if (!members_.end_lost()) {
        return false;
    }
    tell_of_loss(path_);
    if (!members_.is_empty()) {
        return false;
    }
    const auto no_fork = hold_forks();
    file_.close();
    return true;
}

/// Before the look: a commit after it is to be hinted at. Those who want hints where there are none
/// are refused.
void file_watch::prepare_hints(newcomers& waiting) noexcept
{
    const auto wants_hints = [](const newcomer* each) { return each->wanted.request.uses_hints; };
    if (!members_.use_hints() && std::ranges::none_of(waiting, wants_hints)) {
        hints_.reset();
    } else if (!hints_) {
        try {
            hints_.emplace(path_);
        } catch (...) {
            std::erase_if(waiting, [&](newcomer* each) {
                const bool is_refused = wants_hints(each);
                if (is_refused) {
                    decide(*each, std::current_exception());
                }
                return is_refused;
            });
        }
    }
}

void file_watch::admit(const newcomers& waiting) noexcept
{
    for (newcomer* const each : waiting) {
        try {
            if (file_.failure()) {
                std::rethrow_exception(file_.failure());
            }
            if (file_.is_open()) {
                each->wanted.find_file();
            }
            members_.add(each->wanted);
            decide(*each);
        } catch (...) {
            decide(*each, std::current_exception());
        }
    }
}

/// It is gone then: its own thread goes on.
void file_watch::decide(newcomer& decided, std::exception_ptr refusal) noexcept
{
    decided.refusal = std::move(refusal);
    decided.is_decided = true;
    decided_.notify_all();
}

void file_watch::rest(std::unique_lock<std::mutex>& lock) noexcept
{
    const std::chrono::milliseconds usual = members_.interval();
    lock.unlock();
    const auto now = std::chrono::steady_clock::now();
    const bool heeds_hints = hints_ && pace_.heeds_hints(now);
    pause_.sleep(pace_.pause(usual, now), heeds_hints ? hints_->descriptor() : -1);
    lock.lock();
}

} // namespace skein::extension
