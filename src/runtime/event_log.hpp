#pragma once

#include "runtime/event_sink.hpp"
#include "sqlite/connection.hpp"
#include "sqlite/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace skein::runtime {

/// What has happened in the batch that runs, until it is committed and can be told.
///
/// What a failed part of the batch has noted is forgotten by its place in the log. A user's
/// callback may undo a part of itself by a savepoint that nobody else sees; therefore the number of
/// the last event is also written into a temporary table of the connection, which the same
/// savepoint undoes: what holds is what has no greater number.
class event_log {
public:
    /// Tells one thing, or several alike, each by a call of `tell`.
    using event = std::function<void(event_sink&)>;

    /// Makes the table, once for a connection and before its first batch.
    static void prepare(sqlite::connection connection);

    event_log(event_sink& sink, sqlite::connection connection);

    /// Whether anybody will be told.
    [[nodiscard]] bool is_wanted() const noexcept { return sink_.is_heard(); }

    /// Notes what the observer is to be told, if `is_wanted`. What `told` refers to must be there
    /// until the batch is complete.
    void add(event told);

    [[nodiscard]] std::size_t size() const noexcept { return noted_.size(); }

    /// Forgets what was noted from there on: it was undone.
    void forget_from(std::size_t first) noexcept;

    /// Runs a user's callback, of which savepoints may undo parts.
    template <class Callback>
    void run_callback(const Callback& callback)
    {
        const end_of_callback at_end{*this};
        callback_begin_ = noted_.size();
        callback();
        if (noted_.size() != *callback_begin_) {
            forget_undone();
        }
    }

    /// Tells all of it, and forgets it.
    void tell();

private:
    struct noted_event {
        std::int64_t number = 0; ///< never used again
        event told;
    };

    struct end_of_callback {
        event_log& log;
        ~end_of_callback() { log.callback_begin_.reset(); }
    };

    void forget_undone();

    event_sink& sink_;
    sqlite::statement write_last_;
    sqlite::statement read_last_;
    std::vector<noted_event> noted_;
    std::int64_t last_number_ = 0;
    std::optional<std::size_t> callback_begin_; ///< while one runs: where its events begin
};

} // namespace skein::runtime
