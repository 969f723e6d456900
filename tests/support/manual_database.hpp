#pragma once

#include "support/operation.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>
#include <skein/testing/manual_clock.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace asio {
class io_context;
}

struct sqlite3;

namespace skein::support {

/// A database that does nothing by itself: its strand runs on a context of the test's, in the
/// calls of `settle`, and its time stands at 100 s until the test moves it.
class manual_database {
public:
    using shared_clock = std::shared_ptr<testing::manual_clock>;

    /// The options that tests use unless they say otherwise: nobody cuts the power.
    [[nodiscard]] static database_options quick() { return {.durability = durability::off}; }

    /// A file of its own, in a directory of its own.
    explicit manual_database(database_options options = quick());

    /// A file that others use too; with the clock of another one, time passes for both at once.
    explicit manual_database(const std::filesystem::path& path, database_options options = quick(),
                             shared_clock clock = nullptr);

    manual_database(const manual_database&) = delete;
    manual_database& operator=(const manual_database&) = delete;
    ~manual_database();

    [[nodiscard]] skein::database& database() noexcept { return *database_; }
    [[nodiscard]] testing::manual_clock& clock() noexcept { return *clock_; }
    [[nodiscard]] const shared_clock& clock_to_share() const noexcept { return clock_; }
    [[nodiscard]] asio::io_context& context() noexcept { return *context_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// Runs what is ready until nothing is.
    void settle();

    /// Moves the clock, then settles: what has fallen due has happened.
    void advance(duration step);

    /// Starts a coroutine; it gets on while the test settles.
    template <class Result>
    [[nodiscard]] operation<Result> start(asio::awaitable<Result> work)
    {
        return operation<Result>(*context_, std::move(work));
    }

    /// Starts a coroutine and settles. Returns what it returns, throws what it throws, and throws
    /// when it still waits.
    template <class Result>
    Result run(asio::awaitable<Result> work)
    {
        operation<Result> started = start(std::move(work));
        settle();
        return started.result();
    }

    /// The database's own connection, to look at or to trace. Only between calls of `settle`.
    [[nodiscard]] sqlite3* handle();

    /// Closes the database and opens the file anew, with the same options, time and context.
    void reopen();

    /// Lets go of the last handle of the database, then settles.
    void drop_database();

private:
    void open();

    std::optional<temporary_directory> directory_;
    std::filesystem::path path_;
    database_options options_;
    shared_clock clock_;
    std::unique_ptr<asio::io_context> context_;
    std::optional<skein::database> database_;
};

} // namespace skein::support
