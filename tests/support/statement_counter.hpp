#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace skein::support {

/// Watches what one SQLite connection executes: the text of every statement, in order, triggers
/// aside. One counter per connection at a time; it must end before the connection is closed.
///
/// Thread-safety: the connection may be used by another thread while the counter is asked; making
/// and ending the counter may not overlap with that.
class statement_counter {
public:
    explicit statement_counter(sqlite3* connection);
    statement_counter(const statement_counter&) = delete;
    statement_counter& operator=(const statement_counter&) = delete;
    ~statement_counter();

    /// The statements so far, as they were prepared: parameters are not filled in.
    [[nodiscard]] std::vector<std::string> statements() const;

    [[nodiscard]] std::size_t count() const;

    /// How many of the statements have this in their text, upper and lower case being different.
    [[nodiscard]] std::size_t count(std::string_view part) const;

    /// Starts again at nothing. Hooks stay.
    void reset();

    /// Calls `hook` each time that a statement with this in its text has finished: on the thread
    /// that ran it, before anything else happens there. The hook may use other connections, not
    /// this one.
    void when_finished(std::string part, std::function<void()> hook);

private:
    struct state;

    sqlite3* connection_;
    std::unique_ptr<state> state_;
};

} // namespace skein::support
