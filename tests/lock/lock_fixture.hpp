#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, a lock of it whose tables
/// are there, and another program's connection beside them.
class lock_fixture : public ::testing::Test {
protected:
    lock_fixture()
    {
        auto made = db_.run(db_.database().lock("another").try_acquire());
        EXPECT_TRUE(made);
        EXPECT_TRUE(db_.run(made->release()));
    }

    /// Takes the lock, which must be free.
    lock_guard acquire() { return db_.run(lock_.acquire()); }

    /// What the other program reads, of the one row and column that there are.
    std::string value(const std::string& sql) { return other_.value(sql); }

    manual_database db_;
    named_lock lock_ = db_.database().lock("l");
    plain_connection other_{db_.path()};
};

} // namespace skein::support
