#include "support/child_process.hpp"
#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <skein/database.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace skein;
using namespace std::chrono_literals;
using support::child_process;
using support::manual_database;
using support::plain_connection;

class TransportAcrossProcesses : public ::testing::Test {
protected:
    std::unique_ptr<child_process> start(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin() + 1, path_.string());
        return std::make_unique<child_process>(SKEIN_WORKER_PROCESS, arguments);
    }

    /// Everything it still has to say; expects that it ends well.
    static std::vector<std::string> rest_of(child_process& process)
    {
        std::vector<std::string> lines;
        while (auto line = process.read_line()) {
            lines.push_back(*std::move(line));
        }
        EXPECT_EQ(process.wait(), 0);
        return lines;
    }

    std::vector<std::string> lines_of(const std::string& file) const
    {
        std::ifstream stream(directory_ / file);
        std::vector<std::string> lines;
        for (std::string line; std::getline(stream, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
};

TEST_F(TransportAcrossProcesses, ExclusivityAcrossProcesses)
{
    constexpr int workers = 3;
    constexpr int groups = 4;
    {
        manual_database publisher(path_);
        const auto transport = publisher.database().transport();
        for (int each = 0; each < 20; ++each) {
            publisher.run(transport.publish("g" + std::to_string(each % groups),
                                            std::to_string(each / groups)));
        }
    }
    std::vector<std::unique_ptr<child_process>> processes;
    for (int each = 0; each < workers; ++each) {
        processes.push_back(start({"work", directory_.path().string(), std::to_string(workers)}));
    }
    std::map<std::string, int> said;
    for (const auto& each : processes) {
        for (const std::string& line : rest_of(*each)) {
            ++said[line];
        }
    }
    EXPECT_THAT(said, ::testing::ElementsAre(::testing::Pair("done", 20),
                                             ::testing::Pair("stopped", workers)));
    for (int each = 0; each < groups; ++each) {
        EXPECT_THAT(lines_of("g" + std::to_string(each) + ".log"),
                    ::testing::ElementsAre("0", "1", "2", "3", "4"));
    }
    EXPECT_EQ(plain_connection(path_).value("SELECT count(*) FROM harel_transport_messages"), "0");
}

TEST_F(TransportAcrossProcesses, ALeaseOutlivesTheProcessThatWasKilledAndEnds)
{
    manual_database database(path_);
    database.clock().set_wall(std::chrono::system_clock::now());
    const auto transport = database.database().transport();
    database.run(transport.publish("g", "m"));
    const auto holder = start({"hold"});
    EXPECT_EQ(holder->read_line(), "m");
    holder->kill();
    EXPECT_FALSE(database.run(transport.try_claim()));

    auto waiting = database.start(transport.claim());
    database.settle();
    database.advance(2h);
    ASSERT_TRUE(waiting.is_done());
    EXPECT_EQ(waiting.result().payload(), "m");
}

TEST_F(TransportAcrossProcesses, WhatWasAcknowledgedSurvivesAKill)
{
    const auto publisher = start({"publish", "1000000"});
    int acknowledged = -1;
    while (acknowledged < 20) {
        const auto line = publisher->read_line();
        ASSERT_TRUE(line);
        acknowledged = std::stoi(*line);
    }
    publisher->kill();
    while (const auto line = publisher->read_line()) {
        acknowledged = std::stoi(*line);
    }
    const plain_connection file(path_);
    EXPECT_EQ(file.value("PRAGMA integrity_check"), "ok");
    const int stored = std::stoi(file.value("SELECT count(*) FROM harel_transport_messages"));
    EXPECT_GT(stored, acknowledged);
    EXPECT_LE(stored, acknowledged + 2) << "one more may have been committed and not yet told";
    EXPECT_EQ(file.value("SELECT count(*) FROM harel_transport_messages"
                         " WHERE event <> CAST(seq - 1 AS TEXT)"),
              "0");
}

TEST_F(TransportAcrossProcesses, MigrateConcurrently)
{
    plain_connection(path_).sql(
        "CREATE TABLE harel_transport_messages (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
        " group_id TEXT NOT NULL, event TEXT NOT NULL, locked_by TEXT, lock_expiry REAL);"
        "CREATE TABLE harel_transport_groups (group_id TEXT PRIMARY KEY,"
        " last_claimed_at REAL NOT NULL DEFAULT 0.0, priority INT NOT NULL DEFAULT 0);"
        "CREATE INDEX harel_transport_groups_by_last_claimed"
        " ON harel_transport_groups (last_claimed_at);"
        "CREATE INDEX harel_transport_messages_by_group"
        " ON harel_transport_messages (group_id, seq);"
        "INSERT INTO harel_transport_messages (group_id, event) VALUES ('g', 'm');"
        "INSERT INTO harel_transport_groups (group_id) VALUES ('g')");
    constexpr int openers = 20;
    std::vector<std::unique_ptr<child_process>> processes;
    for (int each = 0; each < openers; ++each) {
        processes.push_back(start({"open"}));
    }
    for (const auto& each : processes) {
        EXPECT_EQ(each->read_line(), "ready");
    }
    for (const auto& each : processes) {
        each->write_line("go");
    }
    int claims = 0;
    for (const auto& each : processes) {
        const auto said = rest_of(*each);
        ASSERT_EQ(said.size(), 1U);
        EXPECT_TRUE(said.front() == "claimed" || said.front() == "none") << said.front();
        claims += said.front() == "claimed" ? 1 : 0;
    }
    // Each of them gives the message back when it ends, so that another can have it.
    EXPECT_GE(claims, 1);
    EXPECT_EQ(plain_connection(path_).value(
                  "SELECT count(*) FROM pragma_table_info('harel_transport_groups')"
                  " WHERE name IN ('routing_key', 'blocked_until')"),
              "2");
}

TEST_F(TransportAcrossProcesses, CreateConcurrently)
{
    constexpr int openers = 20;
    std::vector<std::unique_ptr<child_process>> processes;
    for (int each = 0; each < openers; ++each) {
        processes.push_back(start({"open"}));
    }
    for (const auto& each : processes) {
        EXPECT_EQ(each->read_line(), "ready");
    }
    for (const auto& each : processes) {
        each->write_line("go");
    }
    for (const auto& each : processes) {
        EXPECT_THAT(rest_of(*each), ::testing::ElementsAre("none"));
    }
}

} // namespace
