#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, and a connection of the
/// user's own to the same file, with a table `orders (id)`.
class outbox_fixture : public ::testing::Test {
protected:
    outbox_fixture() { own_.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)"); }

    /// An outbox on the user's connection, with the database's time.
    outbox make(outbox_options options = {})
    {
        options.clock = db_.clock_to_share();
        return outbox(own_, options);
    }

    void begin() { own_.exec("BEGIN IMMEDIATE"); }
    void commit() { own_.exec("COMMIT"); }
    void roll_back() { own_.exec("ROLLBACK"); }

    /// What another program reads, of the one row and column that there are.
    std::string value(const std::string& sql) { return plain_connection(db_.path()).value(sql); }

    /// How many there are: orders, jobs, messages, notifications and events. Needs the tables.
    std::string counts()
    {
        return value("SELECT (SELECT count(*) FROM orders) || ' ' ||"
                     " (SELECT count(*) FROM _honker_live) || ' ' ||"
                     " (SELECT count(*) FROM harel_transport_messages) || ' ' ||"
                     " (SELECT count(*) FROM _honker_notifications) || ' ' ||"
                     " (SELECT count(*) FROM _honker_stream)");
    }

    /// What a call throws.
    template <class Call>
    static std::optional<error> refusal(Call&& call)
    {
        try {
            call();
        } catch (const error& refused) {
            return refused;
        }
        return std::nullopt;
    }

    template <class Call>
    static void expect_refusal(errc code, const std::string& part, Call&& call)
    {
        const std::optional<error> refused = refusal(call);
        ASSERT_TRUE(refused) << part;
        EXPECT_EQ(refused->code(), code) << refused->what();
        EXPECT_THAT(refused->what(), ::testing::HasSubstr(part));
    }

    manual_database db_;
    SQLite::Database own_{db_.path().string(), SQLite::OPEN_READWRITE};
};

} // namespace skein::support
