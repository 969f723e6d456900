#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/run_coroutine.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A database that runs in the calls of `settle`, a transport of it whose tables are there, a table
/// `t (v UNIQUE)` of the user's, and another program's connection beside them.
class running_queue : public ::testing::Test {
protected:
    explicit running_queue(database_options options = {}) : db_(without_syncs(std::move(options)))
    {
        EXPECT_FALSE(db_.run(queue_.try_claim()));
        other_.sql("CREATE TABLE t (v UNIQUE)");
        db_.settle();
    }

    /// Starts an operation; it is in the next batch once the test settles.
    operation<void> start_publish(std::string_view payload, std::string_view group = "g")
    {
        return db_.start(queue_.publish(group, payload));
    }

    operation<void> start_transaction(const std::function<void(transaction&)>& work)
    {
        return db_.start(db_.database().transaction(work));
    }

    operation<message> start_claim(const claim_options& options = {})
    {
        return db_.start(queue_.claim(options));
    }

    /// Runs a coroutine to its end; time passes if it has to.
    template <class Result>
    Result finish(asio::awaitable<Result> work)
    {
        return run_coroutine(db_.context(), db_.clock(), std::move(work));
    }

    void publish(std::string_view payload, std::string_view group = "g")
    {
        finish(queue_.publish(group, payload));
    }

    /// Claims what is there now and gives it back at once: its payload, or "nothing".
    std::string peek()
    {
        const std::optional<message> found = finish(queue_.try_claim());
        return found ? std::string(found->payload()) : "nothing";
    }

    /// The payloads in the file, in order.
    std::vector<std::string> payloads()
    {
        return other_.sql("SELECT event FROM harel_transport_messages ORDER BY seq");
    }

    /// How many messages are leased.
    std::string leased()
    {
        return other_.value("SELECT count(*) FROM harel_transport_messages"
                            " WHERE locked_by IS NOT NULL");
    }

    static database_options without_syncs(database_options options)
    {
        options.durability = durability::off; // no test cuts the power
        return options;
    }

    manual_database db_;
    skein::transport queue_ = db_.database().transport();
    plain_connection other_{db_.path()};
    sqlite3* const handle_ = db_.handle(); ///< the database's own connection
};

} // namespace skein::support
