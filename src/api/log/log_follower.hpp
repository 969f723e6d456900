#pragma once

#include "runtime/awaiting.hpp"
#include "runtime/engine.hpp"
#include "runtime/waiter.hpp"
#include "store/log/log_page.hpp"

#include <skein/error.hpp>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skein::api {

/// A log that is followed: one channel, or one topic.
///
/// `Log` says of which kind: `store`, a `table_store`; `entry`, what the store reads;
/// `look(statements, name, number, limit)`, which returns a `store::log_page` of what is behind the
/// number; `number_of(entry)`; and `lines_of(name)`, what the lines of its followers begin with.
template <class Log>
struct followed_log {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<typename Log::store> store;
    std::string name;
    bool create_schema = true;
};

/// How far a follower has come.
struct log_place {
    std::int64_t read = 0;    ///< it has read up to this number
    std::int64_t removed = 0; ///< and was told that entries up to this one are missing
};

/// Waits until there is something behind a place. Who waits at one place forms one line, which
/// looks once for all.
template <class Log>
class log_waiter final : public runtime::waiter {
public:
    using page = store::log_page<typename Log::entry>;

    log_waiter(std::shared_ptr<const followed_log<Log>> log, const log_place& from,
               std::size_t most, runtime::patience how_long)
        : waiter(how_long), log_(std::move(log)), from_(from), most_(most),
          accepts_(Log::lines_of(log_->name) + (log_->create_schema ? '/' : ':') +
                   std::to_string(from.read) + '/' + std::to_string(from.removed) + '/' +
                   std::to_string(most))
    {
    }

    runtime::source& origin() const noexcept override { return *log_->store; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool only_reads() const noexcept override { return true; }

    bool has_work(sqlite::connection connection, clock::wall_time /*now*/) override
    {
        auto* const there = log_->store->find_to_read(connection, log_->create_schema);
        if (there == nullptr) {
            return false;
        }
        page_ = std::make_shared<page>(
            Log::look(*there, log_->name, from_.read, static_cast<std::int64_t>(most_)));
        return !page_->entries.empty() || has_lagged();
    }

    void share_with(waiter& other) const override { static_cast<log_waiter&>(other).page_ = page_; }

    /// Whether entries were removed that it would have read.
    [[nodiscard]] bool has_lagged() const noexcept
    {
        const std::int64_t removed = page_ == nullptr ? 0 : page_->removed_through.value_or(0);
        return removed > std::max(from_.read, from_.removed);
    }

    /// Nothing when there were no tables, or nobody has looked.
    [[nodiscard]] const std::shared_ptr<const page>& found() const noexcept { return page_; }

private:
    std::shared_ptr<const followed_log<Log>> log_;
    log_place from_;
    std::size_t most_;
    std::string accepts_;
    std::shared_ptr<const page> page_; ///< one for all of a line, who may be many
};

/// One who reads a log from some place on, a page at a time. What a page has brought is kept until
/// it is taken, so that a cancellation at whatever moment loses nothing.
///
/// Used by one call at a time, which holds a `turn`.
template <class Log>
class log_follower {
public:
    using entry = typename Log::entry;

    /// Keeps other calls out. Throws `errc::invalid_argument` when one is at it.
    class turn {
    public:
        explicit turn(log_follower& whose) : whose_(whose)
        {
            if (whose_.is_busy_.exchange(true)) {
                throw error(errc::invalid_argument, "'" + whose_.log_->name +
                                                        "': another call waits for the next entry; "
                                                        "one at a time is accepted");
            }
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn() { whose_.is_busy_ = false; }

    private:
        log_follower& whose_;
    };

    log_follower(std::shared_ptr<const followed_log<Log>> log, const log_place& start)
        : log_(std::move(log)), place_(start)
    {
    }

    [[nodiscard]] const followed_log<Log>& log() const noexcept { return *log_; }

    /// Whether a page that was fetched has nothing left.
    [[nodiscard]] bool is_empty() const noexcept
    {
        return page_ == nullptr || next_ == page_->entries.size();
    }

    /// Fetches a page of at most so many entries; waits until there is something. Empty afterwards:
    /// the time is over. Throws `lagged`, also with entries to take.
    asio::awaitable<void> fetch(std::size_t most, runtime::patience how_long)
    {
        const auto wait = std::make_shared<log_waiter<Log>>(log_, place_, most, how_long);
        co_await finish_uncancelled(runtime::await_operation(log_->engine, wait));
        turn_page(*wait);
    }

    /// What comes before entries are taken of a page that was fetched by an earlier call. A
    /// coroutine that has never been suspended is completed some time after it has returned, and
    /// nobody would get what it returns when it is cancelled until then.
    asio::awaitable<void> suspend_once()
    {
        return finish_uncancelled(asio::post(asio::use_awaitable));
    }

    /// At most so many entries of the page.
    std::vector<entry> take(std::size_t most)
    {
        if (is_empty()) {
            return {};
        }
        const auto begin = page_->entries.begin() + static_cast<std::ptrdiff_t>(next_);
        next_ += std::min(most, page_->entries.size() - next_);
        const auto end = page_->entries.begin() + static_cast<std::ptrdiff_t>(next_);
        std::vector<entry> taken(begin, end);
        if (is_empty()) {
            page_.reset(); // it need not be kept while nothing comes
        }
        return taken;
    }

private:
    /// Whoever was cancelled meanwhile, however late, does not get what is returned. Who was
    /// cancelled before, and goes on all the same, does.
    static asio::awaitable<void> finish_uncancelled(asio::awaitable<void> wait)
    {
        const asio::cancellation_state cancellation = co_await asio::this_coro::cancellation_state;
        const asio::cancellation_type before = cancellation.cancelled();
        co_await std::move(wait);
        if (cancellation.cancelled() != before) {
            std::rethrow_exception(runtime::cancelled_failure());
        }
    }

    void turn_page(const log_waiter<Log>& wait)
    {
        const log_place before = place_;
        page_ = wait.found();
        next_ = 0;
        if (!is_empty()) {
            place_.read = Log::number_of(page_->entries.back());
        }
        if (wait.has_lagged()) {
            place_.removed = *page_->removed_through;
            throw lagged(log_->name, std::max(before.read, before.removed) + 1, place_.removed);
        }
    }

    std::shared_ptr<const followed_log<Log>> log_;
    log_place place_;
    std::shared_ptr<const typename log_waiter<Log>::page> page_; ///< others may read it, too
    std::size_t next_ = 0; ///< the first of the page that nobody has taken
    std::atomic<bool> is_busy_ = false;
};

} // namespace skein::api
