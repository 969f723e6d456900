#include "store/family_file.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/notifications.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;
constexpr std::int64_t all = -1;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();

class Notifications : public testing::Test {
protected:
    std::int64_t notify(std::string_view channel, std::string_view payload = "1",
                        std::int64_t time = now)
    {
        return tables_.write([&] { return notifications_.notify(channel, payload, time); });
    }

    std::vector<std::int64_t> ids_since(std::string_view channel, std::int64_t id,
                                        std::int64_t limit = all)
    {
        std::vector<std::int64_t> ids;
        for (const notification& each : notifications_.read_since(channel, id, limit)) {
            ids.push_back(each.id);
        }
        return ids;
    }

    std::int64_t newest_removed(std::string_view channel)
    {
        return notifications_.newest_removed(channel).value();
    }

    std::int64_t purge(std::int64_t before, std::int64_t most)
    {
        return tables_.write([&] { return notifications_.purge(before, most); });
    }

    std::int64_t remove_through(std::int64_t id, std::int64_t most)
    {
        return tables_.write([&] { return notifications_.remove_through(id, most); });
    }

    [[nodiscard]] std::vector<std::string> left() const
    {
        return file().sql("SELECT id FROM _honker_notifications ORDER BY id");
    }

    [[nodiscard]] const skein::support::plain_connection& file() const { return tables_.file(); }

    skein::support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", notification_tables()};
    notifications notifications_{tables_.connection(), family_shape::complete};
};

TEST_F(Notifications, AreReadByteForByteInTheirOrder)
{
    notify("c", " {\"a\":  1}\n", 5);
    notify("another", "2");
    notify("c", "\"\\u0000\"", 6);
    const auto read = notifications_.read_since("c", 0, all);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].id, 1);
    EXPECT_EQ(read[0].payload, " {\"a\":  1}\n");
    EXPECT_EQ(read[0].created_at, 5);
    EXPECT_EQ(read[1].id, 3);
    EXPECT_EQ(read[1].payload, "\"\\u0000\"");
    EXPECT_EQ(read[1].created_at, 6);
}

TEST_F(Notifications, AreReadBehindANumberUpToALimit)
{
    for (int each = 0; each < 5; ++each) {
        notify("c");
    }
    EXPECT_THAT(ids_since("c", 2), ElementsAre(3, 4, 5));
    EXPECT_THAT(ids_since("c", 2, 2), ElementsAre(3, 4));
    EXPECT_THAT(ids_since("c", 2, 0), IsEmpty());
    EXPECT_THAT(ids_since("c", 5), IsEmpty());
    EXPECT_THAT(ids_since("c", most_positive), IsEmpty());
    EXPECT_THAT(ids_since("c", most_negative, 1), ElementsAre(1));
    EXPECT_THAT(ids_since("none", 0), IsEmpty());
}

TEST_F(Notifications, OfAnEmptyNameAreOnAChannelOfTheirOwn)
{
    notify("");
    EXPECT_THAT(ids_since("", 0), ElementsAre(1));
    EXPECT_EQ(notifications_.newest(""), 1);
}

TEST_F(Notifications, KnowTheNewestAndTheOldestOfAChannel)
{
    EXPECT_EQ(notifications_.newest("c"), 0);
    EXPECT_EQ(notifications_.oldest("c"), 0);
    notify("c");
    notify("c");
    notify("another");
    EXPECT_EQ(notifications_.newest("c"), 2);
    EXPECT_EQ(notifications_.oldest("c"), 1);
    EXPECT_EQ(notifications_.newest("none"), 0);
}

TEST_F(Notifications, KnowTheLastNumberAlsoWhenItIsGone)
{
    EXPECT_EQ(notifications_.last_id(), 0);
    notify("c");
    notify("another");
    EXPECT_EQ(notifications_.last_id(), 2);
    EXPECT_EQ(remove_through(2, all), 2);
    EXPECT_EQ(notifications_.last_id(), 2);
    EXPECT_EQ(notify("c"), 3);
    file().sql("DELETE FROM sqlite_sequence");
    EXPECT_EQ(notifications_.last_id(), 3);
}

TEST_F(Notifications, ThatWereRolledBackWereNever)
{
    file().sql("BEGIN");
    notifications_.notify("c", "1", now);
    file().sql("ROLLBACK");
    EXPECT_EQ(notifications_.last_id(), 0);
    EXPECT_EQ(newest_removed("c"), 0);
    EXPECT_EQ(notify("c"), 1);
}

TEST_F(Notifications, AreRefusedWhereATriggerIgnoresThem)
{
    file().sql("CREATE TRIGGER t BEFORE INSERT ON _honker_notifications"
               " BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_THROW(notify("c"), skein::sqlite::error);
}

TEST_F(Notifications, ReturnTheirOwnNumberWhateverTriggersInsert)
{
    file().sql("CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TRIGGER copy AFTER INSERT ON"
               " _honker_notifications BEGIN INSERT INTO t VALUES (77); END");
    EXPECT_EQ(notify("c"), 1);
}

TEST_F(Notifications, ThatAreGoneAreRememberedPerChannel)
{
    notify("c");
    notify("another");
    notify("c");
    EXPECT_EQ(newest_removed("c"), 0);
    EXPECT_EQ(remove_through(2, all), 2);
    EXPECT_EQ(newest_removed("c"), 1);
    EXPECT_EQ(newest_removed("another"), 2);
    EXPECT_EQ(newest_removed("none"), 0);
}

TEST_F(Notifications, ThatAreGoneAreRememberedWhoeverDeletesThem)
{
    for (int each = 0; each < 6; ++each) {
        notify("c");
    }
    const skein::support::plain_connection other(directory_ / "test.db");
    other.sql("DELETE FROM _honker_notifications WHERE id = 4");
    EXPECT_EQ(newest_removed("c"), 4);
    other.sql("DELETE FROM _honker_notifications WHERE id = 2");
    EXPECT_EQ(newest_removed("c"), 4);
    other.sql("BEGIN; DELETE FROM _honker_notifications; ROLLBACK");
    EXPECT_EQ(newest_removed("c"), 4);
    other.sql("DELETE FROM _honker_notifications");
    EXPECT_EQ(newest_removed("c"), 6);
}

TEST_F(Notifications, ThatMoveAreGoneFromWhereTheyWere)
{
    notify("c");
    notify("d");
    file().sql("UPDATE OR REPLACE _honker_notifications SET channel = 'd' WHERE id = 1");
    EXPECT_EQ(newest_removed("c"), 1);
    EXPECT_EQ(newest_removed("d"), 0);
    file().sql("UPDATE OR IGNORE _honker_notifications SET id = 9 WHERE id = 1");
    EXPECT_EQ(newest_removed("d"), 1);
    file().sql("UPDATE _honker_notifications SET payload = '5'");
    EXPECT_EQ(newest_removed("d"), 1);
    EXPECT_THAT(ids_since("d", 0), ElementsAre(2, 9));
}

TEST_F(Notifications, DoNotTellWhatIsGoneWhereNobodyHasNotedIt)
{
    notifications plain(tables_.connection(), family_shape::plain);
    EXPECT_EQ(plain.newest_removed("c"), std::nullopt);
}

TEST_F(Notifications, OfAPlainFileDoAllTheRest)
{
    const skein::support::plain_connection plain_file(directory_ / "plain.db");
    const auto family = notification_tables();
    plain_file.sql(family.statements[0] + ";" + family.statements[1]);
    const skein::sqlite::connection connection(plain_file.handle());
    notifications plain(connection, inspect_family(connection, family));
    for (int each = 0; each < 6; ++each) {
        plain.notify("c", "1", now + each);
    }
    EXPECT_EQ(plain.purge(now + 2, all), 2);
    EXPECT_EQ(plain.remove_through(plain.newest_but(2).value(), all), 2);
    EXPECT_EQ(plain.oldest("c"), 5);
    EXPECT_EQ(plain.newest("c"), 6);
    EXPECT_EQ(plain.last_id(), 6);
    EXPECT_EQ(plain.read_since("c", 0, all).size(), 2U);
}

TEST_F(Notifications, ArePurgedByAgeInSlices)
{
    for (int each = 0; each < 6; ++each) {
        notify(each % 2 == 0 ? "c" : "another", "1", now + each);
    }
    EXPECT_EQ(purge(now, all), 0);
    EXPECT_EQ(purge(now + 5, 3), 3);
    EXPECT_THAT(left(), ElementsAre("4", "5", "6"));
    EXPECT_EQ(purge(now + 5, 3), 2);
    EXPECT_EQ(purge(now + 5, 3), 0);
    EXPECT_EQ(purge(most_negative, all), 0);
    EXPECT_EQ(purge(most_positive, 0), 0);
    EXPECT_EQ(purge(most_positive, all), 1);
}

TEST_F(Notifications, WithATimeThatIsNoneAreNotPurgedByAge)
{
    file().sql("INSERT INTO _honker_notifications (channel, payload, created_at) VALUES"
               " ('c', '1', 'yesterday'), ('c', x'3132', 2.5), ('c', '1', -9223372036854775808)");
    EXPECT_EQ(notifications_.read_since("c", 1, all).front().payload, "12");
    EXPECT_EQ(purge(3, all), 2);
    EXPECT_THAT(left(), ElementsAre("1"));
}

TEST_F(Notifications, AreKeptUpToANumberOnAllChannelsWhateverTheGaps)
{
    for (int each = 0; each < 10; ++each) {
        notify(each % 2 == 0 ? "c" : "another");
    }
    file().sql("DELETE FROM _honker_notifications WHERE id IN (2, 3, 8, 9)");
    EXPECT_EQ(notifications_.newest_but(6), std::nullopt);
    EXPECT_EQ(notifications_.newest_but(most_positive), std::nullopt);
    EXPECT_EQ(notifications_.newest_but(0), 10);
    EXPECT_EQ(notifications_.newest_but(2), 6);
    EXPECT_EQ(remove_through(6, 3), 3);
    EXPECT_THAT(left(), ElementsAre("6", "7", "10"));
    EXPECT_EQ(remove_through(6, 3), 1);
    EXPECT_THAT(left(), ElementsAre("7", "10"));
    EXPECT_EQ(remove_through(most_negative, all), 0);
    EXPECT_EQ(remove_through(most_positive, all), 2);
}

TEST_F(Notifications, EndWithTheNumbers)
{
    file().sql("INSERT INTO _honker_notifications (id, channel, payload)"
               " VALUES (9223372036854775807, 'c', '1')");
    EXPECT_EQ(notifications_.last_id(), most_positive);
    EXPECT_THROW(notifications_.notify("c", "1", now), skein::sqlite::error);
    EXPECT_EQ(remove_through(most_positive, all), 1);
    EXPECT_EQ(newest_removed("c"), most_positive);
}

/// The same with nothing but vectors and maps.
struct notification_model {
    struct row {
        std::int64_t id;
        std::string channel;
        std::int64_t created_at;
    };

    std::vector<row> rows;
    std::map<std::string, std::int64_t> removed;
    std::int64_t last_id = 0;

    template <class Condition>
    std::int64_t remove(std::vector<row> order, std::int64_t most, Condition&& is_meant)
    {
        std::int64_t count = 0;
        for (const row& each : order) {
            if (count != most && is_meant(each)) {
                std::erase_if(rows, [&](const row& other) { return other.id == each.id; });
                removed[each.channel] = std::max(removed[each.channel], each.id);
                ++count;
            }
        }
        return count;
    }

    [[nodiscard]] std::vector<row> by_time() const
    {
        std::vector<row> order = rows;
        std::ranges::sort(order, {},
                          [](const row& each) { return std::pair(each.created_at, each.id); });
        return order;
    }

    [[nodiscard]] std::vector<std::int64_t> since(const std::string& channel, std::int64_t id) const
    {
        std::vector<std::int64_t> ids;
        for (const row& each : rows) {
            if (each.channel == channel && each.id > id) {
                ids.push_back(each.id);
            }
        }
        return ids;
    }

    [[nodiscard]] std::optional<std::int64_t> newest_but(std::int64_t kept) const
    {
        const auto size = static_cast<std::int64_t>(rows.size());
        return kept < size ? std::optional(rows[static_cast<std::size_t>(size - kept - 1)].id)
                           : std::nullopt;
    }
};

class NotificationModel : public Notifications, public testing::WithParamInterface<unsigned> {
protected:
    std::int64_t pick(int count)
    {
        return static_cast<std::int64_t>(chance_() % static_cast<unsigned>(count));
    }

    std::string any_channel() { return "c" + std::to_string(pick(3)); }

    void add()
    {
        const std::string channel = any_channel();
        time_ += pick(4) - 1;
        const std::int64_t id = notify(channel, "1", time_);
        ASSERT_EQ(id, ++model_.last_id);
        model_.rows.push_back({id, channel, time_});
    }

    void remove()
    {
        const std::int64_t most = pick(5) - 1;
        if (pick(2) == 0) {
            const std::int64_t before = time_ - pick(20);
            ASSERT_EQ(purge(before, most),
                      model_.remove(model_.by_time(), most,
                                    [&](const auto& each) { return each.created_at < before; }));
        } else if (const auto last = model_.newest_but(pick(10)); last && pick(2) == 0) {
            ASSERT_EQ(remove_through(*last, most),
                      model_.remove(model_.rows, most,
                                    [&](const auto& each) { return each.id <= *last; }));
        } else {
            const std::int64_t id = pick(static_cast<int>(model_.last_id) + 1);
            file().sql("DELETE FROM _honker_notifications WHERE id = " + std::to_string(id));
            model_.remove(model_.rows, all, [&](const auto& each) { return each.id == id; });
        }
    }

    void compare()
    {
        const std::int64_t position = pick(static_cast<int>(model_.last_id) + 1);
        for (const std::string channel : {"c0", "c1", "c2"}) {
            const auto kept = model_.since(channel, 0);
            ASSERT_EQ(ids_since(channel, position), model_.since(channel, position));
            ASSERT_EQ(notifications_.newest(channel), kept.empty() ? 0 : kept.back());
            ASSERT_EQ(notifications_.oldest(channel), kept.empty() ? 0 : kept.front());
            ASSERT_EQ(newest_removed(channel), model_.removed[channel]);
        }
        ASSERT_EQ(notifications_.last_id(), model_.last_id);
        const std::int64_t kept = pick(10);
        ASSERT_EQ(notifications_.newest_but(kept), model_.newest_but(kept));
    }

    std::mt19937 chance_{GetParam()};
    notification_model model_;
    std::int64_t time_ = now;
};

TEST_P(NotificationModel, AndStoreDoTheSame)
{
    for (int step = 0; step < 500; ++step) {
        pick(3) == 0 ? remove() : add();
        compare();
        ASSERT_FALSE(HasFailure()) << "in step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, NotificationModel, testing::Range(1U, 5U));

} // namespace
