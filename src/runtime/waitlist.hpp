#pragma once

#include "runtime/waiter.hpp"

#include <skein/error.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace skein::runtime {

/// The waiters that accept the same, in the order they came.
struct line {
    std::string_view accepts; ///< of the waiters; the key that it is kept under
    std::list<std::shared_ptr<waiter>> waiters;
    std::size_t impatient = 0; ///< those of them that do not wait
    source* origin = nullptr;
    /// Whether something may have become claimable since the line last found nothing.
    bool is_changed = false;
    /// When its last look, which found nothing, has told it to look again.
    std::optional<clock::wall_time> look_again;
    /// Since when the line has known of something that it could not take, for want of the lock.
    std::optional<clock::steady_time> locked_since;
};

/// Everybody who waits. A waiter costs nothing while nothing happens: a line asks the file once
/// for all its waiters, and only when something has happened to its source. What happens to one
/// source costs nothing for the lines of others.
///
/// Used on the strand only.
class waitlist {
public:
    /// Adds a waiter at the end of its line. `now` is the steady time its limit is counted from.
    void join(std::shared_ptr<waiter> newcomer, clock::steady_time now);

    /// Takes a waiter out, wherever it stands.
    std::shared_ptr<waiter> leave(waiter& leaver);

    /// How many there are.
    [[nodiscard]] std::size_t size() const noexcept;

    /// Whether there are waiters that wait, rather than want to know what is there now.
    [[nodiscard]] bool has_patient() const noexcept { return patient_ != 0; }

    /// Whether some of these want to know of the commits of others.
    [[nodiscard]] bool has_heedful() const noexcept { return heedful_ != 0; }

    /// Whether some line has still to look.
    [[nodiscard]] bool has_changed() const noexcept { return !changed_.empty(); }

    /// Something may have become claimable.
    void mark(const source& changed);
    void mark_lines(const std::string& beginning);
    void mark_all();

    /// Calls `visit` for each line that may find something, in turns: where the last call stopped,
    /// this one starts. Stops when `visit` returns false. `visit` may empty the line it is given.
    void visit_changed(const std::function<bool(line&)>& visit);

    /// The line has found nothing at `looked_at`: its waiters wait on, those without patience get
    /// nothing. It looks again when something has happened, and at `look_again`.
    void settle_empty(line& found_empty, clock::wall_time looked_at,
                      std::optional<clock::wall_time> look_again);

    /// Ends the waits whose limit has passed.
    void expire(clock::steady_time now);
    [[nodiscard]] std::optional<clock::steady_time> next_limit() const;

    /// Marks the sources and lines whose time has come at `now`; they are asked for the next one.
    void mark_due(clock::wall_time now);

    /// The wall clock has stepped: marks the lines that wait for a moment of it.
    void mark_dated();

    /// The next moment when time alone may make something claimable; it may have passed since the
    /// lines have looked. Asks only the sources that something has happened to.
    [[nodiscard]] std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                                           clock::wall_time now);
    /// Ends every wait of one line, or of all. Each waiter gets an exception of its own, since it
    /// is thrown on a thread of its own.
    void fail(line& failed, const error& reason);
    void fail_all(const error& reason);

    /// Ends the lines that have wanted the lock for longer than `timeout`. Returns how many waiters
    /// that were.
    std::size_t fail_overdue(clock::steady_time now, clock::steady_time::duration timeout,
                             const error& reason);

private:
    struct origin {
        std::unordered_set<line*> lines;
        bool due_is_known = false;
        std::optional<clock::wall_time> due;
        /// When the first of its lines has found nothing, since all were told to look.
        std::optional<clock::wall_time> looked_at;
    };

    using lines = std::map<std::string, line>;

    void remove(line& empty);
    void count_in(const waiter& who) noexcept;
    void count_out(const waiter& who) noexcept;
    void change(line& which);
    void forget_date(line& which);
    void settle(line& which);
    static void look_anew(origin& about) noexcept;

    lines lines_;
    std::map<std::string_view, line*> changed_; ///< those of them that have still to look
    std::map<source*, origin> origins_;
    std::multimap<clock::steady_time, waiter*> limits_;
    std::set<std::pair<clock::wall_time, line*>> dates_; ///< when lines look again by themselves
    std::size_t patient_ = 0;
    std::size_t heedful_ = 0;
    const line* visited_ = nullptr; ///< this line stays, even when its last waiter leaves
    std::string next_visited_;
};

} // namespace skein::runtime
