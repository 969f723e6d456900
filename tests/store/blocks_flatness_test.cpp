#include "store/family_file.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/lock/named_locks.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/notifications.hpp"
#include "store/log/stream_schema.hpp"
#include "store/log/streams.hpp"
#include "store/rate_limit/paced_limits.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "store/rate_limit/rate_limits.hpp"
#include "support/statement_cost.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::steps_of;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t now = 1000;

/// What may be there in large numbers, written for `i` in 1…n.
struct crowd {
    std::string_view name;
    std::string_view insert;
    std::string_view values;
};

void insert(const skein::support::plain_connection& file, const crowd& what, int count)
{
    file.sql("BEGIN; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
             std::to_string(count) + ") INSERT INTO " + std::string(what.insert) + " SELECT " +
             std::string(what.values) + " FROM n; COMMIT");
}

/// Does everything that there is to do in one block beside a crowd, and counts what it takes.
class measurement {
public:
    measurement(const table_family& family, const crowd& what, int count)
        : tables(directory_ / "test.db", family)
    {
        insert(tables.file(), what, count);
    }

    /// Does it as part of a write transaction, twice: the second time it is prepared already.
    template <class Work>
    void count(const std::string& name, Work&& work)
    {
        for (const char* const turn : {"first ", "second "}) {
            costs_[turn + name] =
                steps_of(tables.file().handle(), [&] { tables.write([&] { work(); }); });
        }
        plans_ = skein::support::query_plans(tables.file().handle());
    }

    /// Steps by what was done.
    [[nodiscard]] const std::map<std::string, long>& costs() const noexcept { return costs_; }

    /// How SQLite does it.
    [[nodiscard]] const std::vector<std::string>& plans() const noexcept { return plans_; }

private:
    skein::support::temporary_directory directory_;
    std::map<std::string, long> costs_;
    std::vector<std::string> plans_;

public:
    family_file tables;
};

/// Expects that the same work on two measurements, beside few and beside many, costs the same.
template <class Work>
void expect_flat(const table_family& family, const crowd& what, Work&& work)
{
    measurement few(family, what, 1'000);
    measurement many(family, what, 100'000);
    work(few);
    work(many);
    for (const auto& [name, steps] : few.costs()) {
        EXPECT_GT(steps, 0) << name;
        EXPECT_LE(many.costs().at(name), steps + steps / 10) << name;
    }
    EXPECT_GE(many.plans().size(), 8U);
    for (const std::string& each : many.plans()) {
        EXPECT_THAT(each, Not(HasSubstr("TEMP B-TREE")));
        // Walking past those that are kept is what such a statement is for.
        const bool walks = each.find("DESC LIMIT 1 OFFSET") != std::string::npos;
        EXPECT_TRUE(walks || each.find("=> SCAN _") == std::string::npos) << each;
    }
}

std::string name_of(const testing::TestParamInfo<crowd>& what)
{
    return std::string(what.param.name);
}

constexpr std::string_view all_notifications =
    "_honker_notifications (channel, payload, created_at)";
constexpr std::string_view removed_notifications = "_skein_removed_notifications (name, last)";

constexpr crowd notification_crowds[] = {
    {"OnThisChannel", all_notifications, "'c', '0', 100000 + i"},
    {"OnAnotherChannel", all_notifications, "'another', '0', 100000 + i"},
    {"OnManyChannels", all_notifications, "'another' || i, '0', 100000 + i"},
    {"OfOneMoment", all_notifications, "'c', '0', 100000"},
    {"Old", all_notifications, "'c', '0', i - 200000"},
    {"Removed", removed_notifications, "'another' || i, i"},
};

class NotificationFlatness : public testing::TestWithParam<crowd> {};

TEST_P(NotificationFlatness, DoesNotGrowWithWhatIsThere)
{
    expect_flat(notification_tables(), GetParam(), [](measurement& all) {
        notifications block(all.tables.connection(), family_shape::complete);
        std::int64_t id = 0;
        all.count("notify", [&] { id = block.notify("c", "1", now); });
        all.count("newest", [&] { return block.newest("c"); });
        all.count("oldest", [&] { return block.oldest("c"); });
        all.count("last_id", [&] { return block.last_id(); });
        all.count("read_since", [&] { return block.read_since("c", id - 5, 10); });
        all.count("read_since all", [&] { return block.read_since("c", id - 2, -1); });
        all.count("read_since nothing", [&] { return block.read_since("c", id, -1); });
        all.count("newest_removed", [&] { return block.newest_removed("c"); });
        all.count("newest_but", [&] { return block.newest_but(10); });
        all.count("remove_through", [&] { return block.remove_through(id, 10); });
        all.count("purge nothing", [&] { return block.purge(-300'000, 10); });
        all.count("purge", [&] { return block.purge(now + 1, 10); });
    });
}

INSTANTIATE_TEST_SUITE_P(Notifications, NotificationFlatness,
                         testing::ValuesIn(notification_crowds), name_of);

constexpr std::string_view all_events = "_honker_stream (topic, payload, created_at)";
constexpr std::string_view all_consumers = "_honker_stream_consumers (name, topic, offset)";

constexpr crowd stream_crowds[] = {
    {"OnThisTopic", all_events, "'t', '0', 100000 + i"},
    {"OnAnotherTopic", all_events, "'another', '0', 100000 + i"},
    {"OnManyTopics", all_events, "'another' || i, '0', 100000 + i"},
    {"Old", all_events, "'t', '0', i - 200000"},
    {"Removed", "_skein_removed_events (name, last)", "'another' || i, i"},
    {"ConsumersOfThisTopic", all_consumers, "'c' || i, 't', 1000000 + i"},
    {"ConsumersOfAnotherTopic", all_consumers, "'c' || i, 'another', i"},
    {"TopicsOfThisConsumer", all_consumers, "'c', 'another' || i, i"},
};

class StreamFlatness : public testing::TestWithParam<crowd> {};

TEST_P(StreamFlatness, DoesNotGrowWithWhatIsThere)
{
    expect_flat(stream_tables(), GetParam(), [](measurement& all) {
        streams block(all.tables.connection(), family_shape::complete);
        std::int64_t offset = 0;
        all.count("publish", [&] { offset = block.publish("t", "k", "1", now); });
        all.count("read_since", [&] { return block.read_since("t", offset - 5, 10); });
        all.count("read_since nothing", [&] { return block.read_since("t", offset, -1); });
        all.count("first_offset", [&] { return block.first_offset("t"); });
        all.count("last_offset", [&] { return block.last_offset("t"); });
        all.count("last_removed", [&] { return block.last_removed("t"); });
        std::int64_t read = 0;
        all.count("save_offset", [&] { return block.save_offset("c", "t", ++read); });
        all.count("save_offset too late", [&] { return block.save_offset("c", "t", 0); });
        all.count("offset", [&] { return block.offset("c", "t"); });
        all.count("consumers", [&] { return block.consumers("none"); });
        all.count("passed_by_all", [&] { return block.passed_by_all("t"); });
        all.count("forget_consumer", [&] { return block.forget_consumer("c", "t"); });
        all.count("last_but", [&] { return block.last_but("t", 10); });
        all.count("trim_older nothing", [&] { return block.trim_older("t", -300'000, 10); });
        all.count("trim_older", [&] { return block.trim_older("t", now, 10); });
        all.count("trim_through", [&] { return block.trim_through("t", offset, 10); });
    });
}

INSTANTIATE_TEST_SUITE_P(Streams, StreamFlatness, testing::ValuesIn(stream_crowds), name_of);

constexpr std::string_view all_locks = "_honker_locks (name, owner, expires_at)";

constexpr crowd lock_crowds[] = {
    {"Held", all_locks, "'l' || i, 'w', 100000 + i"},
    {"Expired", all_locks, "'l' || i, 'w', 1"},
};

class LockFlatness : public testing::TestWithParam<crowd> {};

TEST_P(LockFlatness, DoesNotGrowWithWhatIsThere)
{
    expect_flat(lock_tables(), GetParam(), [](measurement& all) {
        named_locks block(all.tables.connection(), family_shape::complete);
        all.count("acquire", [&] { return block.acquire("a", "w", 10, now).is_held; });
        all.count("acquire in vain", [&] { return block.acquire("a", "v", 10, now).is_held; });
        all.count("renew", [&] { return block.renew("a", "w", 10, now); });
        all.count("find", [&] { return block.find("a").has_value(); });
        all.count("next_expiry", [&] { return block.next_expiry("a", now).has_value(); });
        all.count("acquire what has expired",
                  [&] { return block.acquire("a", "w", 0, now + 10).is_held; });
        all.count("release", [&] { return block.release("a", "w"); });
    });
}

INSTANTIATE_TEST_SUITE_P(Locks, LockFlatness, testing::ValuesIn(lock_crowds), name_of);

constexpr std::string_view windows = "_honker_rate_limits (name, window_start, count)";
constexpr std::string_view paces = "_skein_rate_limits (name, arrival)";

constexpr crowd rate_limit_crowds[] = {
    {"WindowsOfThisName", windows, "'r', 100000 + i, 1"},
    {"WindowsOfOtherNames", windows, "'r' || i, 1000, 1"},
    {"OldWindows", windows, "'r' || i, i - 200000, 1"},
    {"PacesInUse", paces, "'r' || i, 100000 + i"},
    {"PacesOutOfUse", paces, "'r' || i, i - 200000"},
};

class RateLimitFlatness : public testing::TestWithParam<crowd> {};

TEST_P(RateLimitFlatness, DoesNotGrowWithWhatIsThere)
{
    expect_flat(rate_limit_tables(), GetParam(), [](measurement& all) {
        rate_limits windowed(all.tables.connection());
        paced_limits paced(all.tables.connection());
        const pace wanted{.permits = 1, .per = 10, .burst = 2};
        all.count("try_take", [&] { return windowed.try_take("r", 2, 10, now); });
        all.count("try_take in vain", [&] { return windowed.try_take("r", 2, 10, now); });
        all.count("next_free", [&] { return windowed.next_free("r", 2, 10, now); });
        all.count("sweep nothing", [&] { return windowed.sweep(300'000, 10, now); });
        all.count("sweep", [&] { return windowed.sweep(-1, 10, now); });
        all.count("paced try_take", [&] { return paced.try_take("r", wanted, now).is_taken; });
        all.count("paced try_take in vain",
                  [&] { return paced.try_take("r", wanted, now).is_taken; });
        all.count("paced look", [&] { return paced.look("r", wanted, now).free_at; });
        all.count("paced sweep nothing", [&] { return paced.sweep(10, -300'000); });
        all.count("paced sweep", [&] { return paced.sweep(10, now); });
    });
}

INSTANTIATE_TEST_SUITE_P(RateLimits, RateLimitFlatness, testing::ValuesIn(rate_limit_crowds),
                         name_of);

} // namespace
