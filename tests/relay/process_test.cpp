#include "stream/stream_fixture.hpp"
#include "support/child_process.hpp"

#include <skein/outbox.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace skein;
using support::child_process;

class RelayProcess : public support::stream_fixture {
protected:
    [[nodiscard]] std::unique_ptr<child_process> start(const std::string& lock_ttl = "1") const
    {
        return std::make_unique<child_process>(
            SKEIN_RELAY_PROCESS, std::vector<std::string>{db_.path().string(), lock_ttl});
    }

    /// The offset in what the sink has told, whose payload is its number among the events.
    static std::int64_t offset_of(const std::string& line)
    {
        EXPECT_EQ(line.substr(0, 7), "orders:") << line;
        const std::size_t end = line.find(' ');
        const std::string offset = line.substr(7, end - 7);
        EXPECT_EQ(line.substr(end + 1), offset);
        return std::stoll(offset);
    }

    /// What a relay has handed out until it was killed, which happens when it has told of so many,
    /// or of the last one.
    [[nodiscard]] numbers offsets_until_killed(std::size_t most, std::int64_t end) const
    {
        const auto process = start();
        numbers all;
        while (all.size() < most && (all.empty() || all.back() != end)) {
            all.push_back(offset_of(process->read_line().value()));
        }
        process->kill();
        while (const auto line = process->read_line()) {
            all.push_back(offset_of(*line)); // it was faster than this process
        }
        // As if the time of its lock were over.
        support::plain_connection(db_.path()).sql("DELETE FROM _honker_locks");
        return all;
    }
};

TEST_F(RelayProcess, NothingIsLostByKillsAndOnlyTheLastOneIsRepeated)
{
    constexpr int count = 2000;
    publish_many(count);
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    std::int64_t last = 0;
    int kills = 0;
    for (; last < count; ++kills) {
        const numbers handed_out = offsets_until_killed(1 + chance() % 60, count);
        ASSERT_FALSE(handed_out.empty());
        ASSERT_LE(handed_out.front(), last + 1) << "lost";
        ASSERT_GE(handed_out.front(), last) << "more was repeated than what was under way";
        for (std::size_t each = 1; each < handed_out.size(); ++each) {
            ASSERT_EQ(handed_out[each], handed_out[each - 1] + 1);
        }
        last = handed_out.back();
    }
    EXPECT_GT(kills, 3);
}

TEST_F(RelayProcess, OneOfTwoWorksAndTheOtherFollowsWhenItIsKilled)
{
    publish();
    db_.run(stream_.trim({.keep = 0})); // the tables are there, and the number 1 is gone
    const auto first = start();
    SQLite::Database own(db_.path().string(), SQLite::OPEN_READWRITE);
    own.setBusyTimeout(5000);
    publish_event(own, "orders", "2");
    EXPECT_EQ(offset_of(first->read_line().value()), 2);
    const auto second = start();
    for (int each = 3; each <= 20; ++each) {
        publish_event(own, "orders", std::to_string(each));
        EXPECT_EQ(offset_of(first->read_line().value()), each);
    }
    first->kill();
    publish_event(own, "orders", "21");
    std::int64_t next = offset_of(second->read_line().value());
    if (next == 20) {
        next = offset_of(second->read_line().value()); // the kill came before it was saved
    }
    EXPECT_EQ(next, 21);
    second->kill();
}

} // namespace
