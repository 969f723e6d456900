#pragma once

#include "store/process_zone.hpp"
#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace skein::support {

/// The moment that lies so many seconds behind the epoch. Tests begin at 100.
inline clock::wall_time at(std::int64_t second)
{
    return clock::wall_time(std::chrono::seconds{second});
}

/// What a call is refused with.
inline std::string refusal_of(const std::function<void()>& call)
{
    try {
        call();
    } catch (const error& told) {
        EXPECT_EQ(told.code(), errc::invalid_argument);
        return told.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

/// A database that runs in the calls of `settle`, with its time at 100 s in UTC, its scheduler, and
/// another program's connection beside them.
class schedule_fixture : public ::testing::Test {
protected:
    explicit schedule_fixture(database_options options = manual_database::quick())
        : db_(std::move(options))
    {
        EXPECT_FALSE(db_.run(db_.database().queue("q").try_claim())); // makes the tables of queues
        EXPECT_FALSE(db_.run(scheduler_.remove("none")));
    }

    /// Adds a schedule of the queue "q".
    void add(std::string_view name, std::string_view expression,
             const schedule_options& options = {})
    {
        db_.run(scheduler_.add(name, "q", expression, "null", options));
    }

    /// What there must be.
    schedule find(std::string_view name)
    {
        std::optional<schedule> found = db_.run(scheduler_.find(name));
        EXPECT_TRUE(found) << name;
        return found ? *std::move(found) : schedule();
    }

    /// Starts a scheduler, which gets on while the test settles.
    operation<void> run()
    {
        operation<void> running = db_.start(scheduler_.run());
        db_.settle();
        return running;
    }

    /// What the other program reads, of the one row and column that there are.
    std::string value(const std::string& sql) { return other_.value(sql); }

    /// How many jobs are in the file.
    int jobs() { return std::stoi(value("SELECT count(*) FROM _honker_live")); }

    store::process_zone zone_{"UTC"};
    manual_database db_;
    scheduler scheduler_ = db_.database().scheduler();
    plain_connection other_{db_.path()};
};

} // namespace skein::support
