#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, a queue of it whose
/// tables are there, and another program's connection beside them.
class queue_fixture : public ::testing::Test {
protected:
    explicit queue_fixture(database_options options = manual_database::quick())
        : db_(std::move(options))
    {
        EXPECT_FALSE(db_.run(queue_.try_claim()));
    }

    std::int64_t enqueue(std::string_view payload = "null", const enqueue_options& options = {})
    {
        return db_.run(queue_.enqueue(payload, options));
    }

    /// Claims what there must be.
    job claim(const job_claim_options& options = {})
    {
        std::optional<job> claimed = db_.run(queue_.try_claim(options));
        EXPECT_TRUE(claimed);
        return claimed ? *std::move(claimed) : job();
    }

    /// What the other program reads, of the one row and column that there are.
    std::string value(const std::string& sql) { return other_.value(sql); }

    std::string state_of(std::int64_t id)
    {
        return value(
            "SELECT coalesce((SELECT state FROM _honker_live WHERE id = " + std::to_string(id) +
            "), (SELECT 'dead: ' || last_error FROM _honker_dead WHERE id = " + std::to_string(id) +
            "), 'gone')");
    }

    manual_database db_;
    skein::queue queue_ = db_.database().queue("q");
    plain_connection other_{db_.path()};
};

} // namespace skein::support
