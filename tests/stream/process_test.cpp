#include "stream/stream_fixture.hpp"
#include "support/child_process.hpp"
#include "support/other_process.hpp"

#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::child_process;
using support::other_process;
using ::testing::ElementsAre;

class StreamAcrossProcesses : public support::stream_fixture {
protected:
    [[nodiscard]] std::unique_ptr<child_process> start(std::vector<std::string> arguments) const
    {
        arguments.insert(arguments.begin() + 1, db_.path().string());
        return std::make_unique<child_process>(SKEIN_STREAM_PROCESS, arguments);
    }

    /// Lets them go at the same moment.
    static void let_go(const std::vector<child_process*>& all)
    {
        for (child_process* each : all) {
            EXPECT_EQ(each->read_line(), "ready");
        }
        for (child_process* each : all) {
            each->write_line("go");
        }
    }

    /// What a worker has handled until it was killed, which happens when it has told of so many, or
    /// of the last one.
    [[nodiscard]] numbers offsets_until_killed(std::size_t most, std::int64_t end) const
    {
        const auto worker = start({"work"});
        numbers all;
        while (all.size() < most && (all.empty() || all.back() != end)) {
            all.push_back(std::stoll(worker->read_line().value()));
        }
        worker->kill();
        while (const auto line = worker->read_line()) {
            all.push_back(std::stoll(*line)); // it was faster than this process
        }
        return all;
    }

    /// What the consuming process has got: every event of both writers, once and in order.
    static void expect_complete(child_process& reader, int count)
    {
        std::int64_t last = 0;
        std::map<std::string, int> seen;
        while (const auto line = reader.read_line()) {
            std::istringstream words(*line);
            std::int64_t offset = 0;
            std::string key;
            int number = 0;
            words >> offset >> key >> number;
            ASSERT_GT(offset, last) << *line;
            ASSERT_EQ(number, ++seen[key]) << *line;
            last = offset;
        }
        EXPECT_EQ(seen["one"], count);
        EXPECT_EQ(seen["two"], count);
    }
};

TEST_F(StreamAcrossProcesses, OffsetsFollowTheCommitsSoThatAReaderMissesNone)
{
    publish();
    db_.run(stream_.trim({.keep = 0}));
    constexpr int count = 1500;
    const auto reader = start({"consume", std::to_string(2 * count)});
    const auto one = start({"publish", std::to_string(count), "one"});
    const auto two = start({"publish", std::to_string(count), "two"});
    let_go({reader.get(), one.get(), two.get()});
    expect_complete(*reader, count);
    EXPECT_EQ(one->wait(), 0);
    EXPECT_EQ(two->wait(), 0);
    EXPECT_EQ(reader->wait(), 0);
}

TEST_F(StreamAcrossProcesses, EventsOfPlainSqlReachAConsumer)
{
    consumer who = consume();
    auto wait = db_.start(who.next_many(10));
    db_.settle();
    other_process other(db_.path());
    other.sql("BEGIN IMMEDIATE; INSERT INTO _honker_stream (topic, key, payload, created_at)"
              " VALUES ('orders', 'k', '{\"a\": 1}', unixepoch()), ('payments', NULL, '2', 7),"
              " ('orders', NULL, '3', 77); COMMIT");
    db_.advance(1ms);
    ASSERT_TRUE(wait.is_done());
    const std::vector<stream_event> events = wait.result();
    ASSERT_THAT(offsets_of(events), ElementsAre(1, 3));
    EXPECT_EQ(events[0].key, "k");
    EXPECT_EQ(events[0].payload, "{\"a\": 1}");
    EXPECT_EQ(events[1].key, std::nullopt);
    EXPECT_EQ(events[1].created_at.time_since_epoch(), 77s);
}

TEST_F(StreamAcrossProcesses, EventsAndOffsetsReachPlainSql)
{
    db_.run(stream_.publish("k", R"({"a": 1})"));
    publish("2");
    db_.run(consume().save(1));
    other_process other(db_.path());
    EXPECT_THAT(other.sql("SELECT offset, topic, key, payload, created_at FROM _honker_stream"
                          " WHERE topic = 'orders' AND offset > 0 ORDER BY offset"),
                ElementsAre("1|orders|k|{\"a\": 1}|100", "2|orders|NULL|2|100"));
    EXPECT_THAT(other.sql("SELECT * FROM _honker_stream_consumers"), ElementsAre("c|orders|1"));
}

TEST_F(StreamAcrossProcesses, AnOffsetThatPlainSqlHasSavedIsResumed)
{
    publish_many(3);
    other_process other(db_.path());
    other.sql("INSERT INTO _honker_stream_consumers (name, topic, offset)"
              " VALUES ('c', 'orders', 2)");
    consumer who = consume();
    EXPECT_THAT(drain(who), ElementsAre(3));
    EXPECT_TRUE(db_.run(who.save()));
    EXPECT_THAT(other.sql("SELECT offset FROM _honker_stream_consumers"), ElementsAre("3"));
}

TEST_F(StreamAcrossProcesses, AConsumerIsToldOfWhatPlainSqlHasRemoved)
{
    publish_many(3);
    consumer who = consume();
    other_process other(db_.path());
    other.sql("DELETE FROM _honker_stream WHERE offset <= 2");
    EXPECT_THROW(db_.run(who.next()), lagged);
    EXPECT_THAT(drain(who), ElementsAre(3));
}

TEST_F(StreamAcrossProcesses, NothingIsLostByKillsWithAutomaticSaving)
{
    constexpr int count = 3000;
    publish_many(count);
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::int64_t last = 0;
    int repeated = 0;
    int kills = 0;
    for (; last < count; ++kills) {
        const numbers handled = offsets_until_killed(1 + chance() % 50, count);
        ASSERT_FALSE(handled.empty());
        const std::int64_t first = handled.front();
        ASSERT_LE(first, last + 1) << "lost";
        ASSERT_GT(first, last - 100) << "more was repeated than one page";
        for (std::size_t each = 1; each < handled.size(); ++each) {
            ASSERT_EQ(handled[each], handled[each - 1] + 1);
        }
        repeated += first <= last ? 1 : 0;
        last = std::max(last, handled.back());
    }
    EXPECT_EQ(last, count);
    EXPECT_GT(kills, 10);
    EXPECT_GT(repeated, 0) << "nobody died between handing out and saving";
}

} // namespace
