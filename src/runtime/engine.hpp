#pragma once

#include "runtime/callback_guard.hpp"
#include "runtime/checkpointer.hpp"
#include "runtime/committer.hpp"
#include "runtime/context_life.hpp"
#include "runtime/event_sink.hpp"
#include "runtime/file_guard.hpp"
#include "runtime/home_process.hpp"
#include "runtime/inbox.hpp"
#include "runtime/lock_wait.hpp"
#include "runtime/lookout.hpp"
#include "runtime/reader.hpp"
#include "runtime/source.hpp"
#include "runtime/wait_alarm.hpp"
#include "runtime/waitlist.hpp"
#include "runtime/wal_hint.hpp"
#include "runtime/watcher.hpp"

#include <skein/database_options.hpp>

#include <asio/any_io_executor.hpp>

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::runtime {

/// One open database: the strand, and what runs on it. Operations come in through `submit`, from
/// any thread; the strand runs them, in batches where they write, and completes them.
///
/// It is over when it has been closed, or when the strand's context has ended.
class engine final : public context_user, public std::enable_shared_from_this<engine> {
public:
    ~engine() override = default;

    /// Opens the file; blocks meanwhile. Throws `skein::error`.
    [[nodiscard]] static std::shared_ptr<engine> open(const asio::any_io_executor& executor,
                                                      const std::filesystem::path& path,
                                                      database_options options);

    // From any thread. In the child of a fork all of these come before any mutex: the thread that
    // held it there does not exist.

    /// Whether this is a copy in a child process, of which nothing may be used.
    [[nodiscard]] bool is_left_behind() const noexcept { return home_.is_left(); }

    /// Throws `errc::forked` in a child process.
    void require_home() const;

    /// Throws `errc::invalid_argument` inside a callback of this database, on the thread that runs
    /// it: whoever blocks there until something awaited is done waits for ever. `instead` is what
    /// can be called there, if there is something.
    void require_outside_callback(std::string_view instead = {}) const;

    void submit(std::shared_ptr<operation> wanted);
    void cancel(const std::shared_ptr<operation>& unwanted);

    /// Closes, and completes `closing` when all is closed.
    void close(std::shared_ptr<operation> closing);

    /// The source of this name: the same one for everybody.
    template <class Source, class... Arguments>
    std::shared_ptr<Source> source_named(const std::string& name, const Arguments&... arguments);

    /// Names this database object, for those who look into the file.
    [[nodiscard]] const std::string& worker_id() const noexcept { return worker_id_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::size_t length_limit() const noexcept { return length_limit_; }
    [[nodiscard]] skein::clock::wall_time wall_now() const noexcept { return clock_->wall_now(); }
    [[nodiscard]] skein::clock::steady_time steady_now() const noexcept
    {
        return clock_->steady_now();
    }
    [[nodiscard]] std::unique_ptr<skein::alarm> make_alarm(const asio::any_io_executor& where) const
    {
        return clock_->make_alarm(where);
    }

    /// A moment of the steady clock, as the wall clock will tell it if it does not step, or the
    /// last one that it can tell.
    [[nodiscard]] skein::clock::wall_time on_the_wall(skein::clock::steady_time moment) const
    {
        using wall_time = skein::clock::wall_time;
        const auto wait = std::chrono::duration_cast<wall_time::duration>(moment - steady_now());
        const wall_time now = wall_now();
        const bool is_beyond = wait > wait.zero() && now > wall_time::max() - wait;
        return is_beyond ? wall_time::max() : now + wait;
    }

    /// Tells the user. On the strand.
    void log(log_level level, const std::string& text) const;

    /// The steady time, if there is an observer to be told of it.
    [[nodiscard]] std::optional<skein::clock::steady_time> observed_now() const
    {
        return events_.is_heard() ? std::optional(clock_->steady_now()) : std::nullopt;
    }

    // On the strand: an operation takes, or leaves, its place.

    void add(std::shared_ptr<unit> arrived);
    void add(std::shared_ptr<reading> arrived);
    void add(std::shared_ptr<waiter> arrived);
    void remove(const unit& leaving);
    void remove(const reading& leaving);
    void remove(waiter& leaving);

    /// The strand's context is being destroyed: nothing runs any more, and nothing may be posted.
    void context_ended() noexcept override;

private:
    /// What lives from opening to closing, in the order of construction.
    struct open_file {
        open_file(engine& owner, std::unique_ptr<SQLite::Database> opened);

        std::unique_ptr<SQLite::Database> database;
        sqlite::connection connection;
        file_guard files;
        committer writes;
        reader reads;
        checkpointer checkpoints;
        watcher commits_of_others;
        lock_wait lock;
        std::deque<std::shared_ptr<unit>> units;
        std::deque<std::shared_ptr<reading>> readings;
        waitlist waiting;
        lookout lines;
        wait_alarm deadline;
        bool is_lost = false; ///< somebody has replaced or deleted it
    };

    engine(const asio::any_io_executor& executor, const std::filesystem::path& path,
           database_options options);
    static void let_go(engine* unused) noexcept;

    void wake();
    void drain();
    void take_in(inbox::contents news);
    void finish_units();
    void pump();
    void work();
    bool read_all();
    bool write_batch();
    [[nodiscard]] bool wants_to_write();
    void wait_for_lock();
    void tell_wait(skein::clock::steady_time end);
    void fail_everything(const error& failure);
    void abandon_file(const error& reason);
    void settle();
    void finish(std::vector<std::shared_ptr<operation>> closings) noexcept;
    [[nodiscard]] std::unique_ptr<wal_hint> make_hint(sqlite::connection connection) const;

    const home_process home_;
    const std::filesystem::path path_;
    const database_options options_;
    const std::shared_ptr<skein::clock> clock_;
    const std::string worker_id_;
    event_sink events_;
    std::size_t length_limit_ = 0;
    asio::any_io_executor strand_;
    inbox inbox_;
    std::unique_ptr<open_file> file_;

    std::mutex sources_mutex_;
    std::map<std::string, std::shared_ptr<source>> sources_;
};

template <class Source, class... Arguments>
std::shared_ptr<Source> engine::source_named(const std::string& name, const Arguments&... arguments)
{
    require_home();
    const std::lock_guard lock(sources_mutex_);
    std::shared_ptr<source>& found = sources_[name];
    if (!found) {
        found = std::make_shared<Source>(arguments...);
    }
    return std::static_pointer_cast<Source>(found);
}

} // namespace skein::runtime
