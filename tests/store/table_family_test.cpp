#include "store/error.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/log/notification_schema.hpp"
#include "store/log/stream_schema.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "store/schedule/schedule_schema.hpp"
#include "store/table_family.hpp"
#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"
#include "support/write_transaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace skein::store;
using skein::support::plain_connection;
using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

/// A family, and the format's part of it as another program makes it.
struct known_family {
    std::string name;
    table_family family;
    std::string format;
    std::vector<std::string> columns; ///< of all tables, by name
};

const std::vector<known_family>& known_families()
{
    static const std::vector<known_family> all{
        {"Notifications",
         notification_tables(),
         "CREATE TABLE _honker_notifications (id INTEGER PRIMARY KEY AUTOINCREMENT,"
         " channel TEXT NOT NULL, payload TEXT NOT NULL,"
         " created_at INTEGER NOT NULL DEFAULT (unixepoch()));"
         "CREATE INDEX _honker_notifications_recent ON _honker_notifications (channel, id)",
         {"_honker_notifications|id|INTEGER|0|NULL|1",
          "_honker_notifications|channel|TEXT|1|NULL|0",
          "_honker_notifications|payload|TEXT|1|NULL|0",
          "_honker_notifications|created_at|INTEGER|1|unixepoch()|0"}},
        {"Streams",
         stream_tables(),
         "CREATE TABLE _honker_stream (offset INTEGER PRIMARY KEY AUTOINCREMENT,"
         " topic TEXT NOT NULL, key TEXT, payload TEXT NOT NULL,"
         " created_at INTEGER NOT NULL DEFAULT (unixepoch()));"
         "CREATE INDEX _honker_stream_topic ON _honker_stream (topic, offset);"
         "CREATE TABLE _honker_stream_consumers (name TEXT NOT NULL, topic TEXT NOT NULL,"
         " offset INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, topic))",
         {"_honker_stream|offset|INTEGER|0|NULL|1", "_honker_stream|topic|TEXT|1|NULL|0",
          "_honker_stream|key|TEXT|0|NULL|0", "_honker_stream|payload|TEXT|1|NULL|0",
          "_honker_stream|created_at|INTEGER|1|unixepoch()|0",
          "_honker_stream_consumers|name|TEXT|1|NULL|1",
          "_honker_stream_consumers|topic|TEXT|1|NULL|2",
          "_honker_stream_consumers|offset|INTEGER|1|0|0"}},
        {"Locks",
         lock_tables(),
         "CREATE TABLE _honker_locks (name TEXT PRIMARY KEY, owner TEXT NOT NULL,"
         " expires_at INTEGER NOT NULL)",
         {"_honker_locks|name|TEXT|0|NULL|1", "_honker_locks|owner|TEXT|1|NULL|0",
          "_honker_locks|expires_at|INTEGER|1|NULL|0"}},
        {"RateLimits",
         rate_limit_tables(),
         "CREATE TABLE _honker_rate_limits (name TEXT NOT NULL, window_start INTEGER NOT NULL,"
         " count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, window_start))",
         {"_honker_rate_limits|name|TEXT|1|NULL|1",
          "_honker_rate_limits|window_start|INTEGER|1|NULL|2",
          "_honker_rate_limits|count|INTEGER|1|0|0"}},
        {"Schedules",
         schedule_tables(),
         "CREATE TABLE _honker_scheduler_tasks (name TEXT PRIMARY KEY, queue TEXT NOT NULL,"
         " cron_expr TEXT NOT NULL, payload TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0,"
         " expires_s INTEGER, next_fire_at INTEGER NOT NULL, enabled INTEGER NOT NULL DEFAULT 1,"
         " max_attempts INTEGER NOT NULL DEFAULT 3)",
         {"_honker_scheduler_tasks|name|TEXT|0|NULL|1",
          "_honker_scheduler_tasks|queue|TEXT|1|NULL|0",
          "_honker_scheduler_tasks|cron_expr|TEXT|1|NULL|0",
          "_honker_scheduler_tasks|payload|TEXT|1|NULL|0",
          "_honker_scheduler_tasks|priority|INTEGER|1|0|0",
          "_honker_scheduler_tasks|expires_s|INTEGER|0|NULL|0",
          "_honker_scheduler_tasks|next_fire_at|INTEGER|1|NULL|0",
          "_honker_scheduler_tasks|enabled|INTEGER|1|1|0",
          "_honker_scheduler_tasks|max_attempts|INTEGER|1|3|0"}}};
    return all;
}

void create(const plain_connection& file, const table_family& family)
{
    skein::support::in_write_transaction(file, [&] {
        create_family(skein::sqlite::connection(file.handle()), family);
        return true;
    });
}

class TableFamily : public testing::TestWithParam<std::size_t> {
protected:
    [[nodiscard]] const known_family& known() const { return known_families()[GetParam()]; }
    [[nodiscard]] const table_family& family() const { return known().family; }

    [[nodiscard]] family_shape shape() const
    {
        return inspect_family(skein::sqlite::connection(file_.handle()), family());
    }

    [[nodiscard]] std::vector<std::string> schema() const
    {
        return file_.sql("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid");
    }

    skein::support::temporary_directory directory_;
    std::filesystem::path path_ = directory_ / "test.db";
    plain_connection file_{path_};
};

TEST_P(TableFamily, IsExactlyTheFormatAndWhatIsNamedAsOurs)
{
    create(file_, family());
    std::vector<std::string> expected;
    expected.assign(family().format.begin(), family().format.end());
    EXPECT_THAT(file_.sql("SELECT name FROM sqlite_schema WHERE name NOT LIKE '\\_skein\\_%'"
                          " ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"),
                UnorderedElementsAreArray(expected));
    expected.assign(family().additions.begin(), family().additions.end());
    expected.emplace_back("_skein_meta");
    EXPECT_THAT(file_.sql("SELECT name FROM sqlite_schema WHERE name LIKE '\\_skein\\_%'"
                          " ESCAPE '\\'"),
                UnorderedElementsAreArray(expected));
}

TEST_P(TableFamily, HasTheColumnsOfTheFormatInTheirOrder)
{
    create(file_, family());
    EXPECT_EQ(file_.sql("SELECT t.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk"
                        " FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
                        " AND t.name LIKE '\\_honker\\_%' ESCAPE '\\' ORDER BY t.name, c.cid"),
              known().columns);
}

TEST_P(TableFamily, IsMissingInAnEmptyFile)
{
    EXPECT_EQ(shape(), family_shape::missing);
}

TEST_P(TableFamily, OfAnotherProgramIsUsedAsItIsAndCompletedOnlyWhenAsked)
{
    file_.sql(known().format);
    EXPECT_EQ(shape(), family_shape::plain);
    create(file_, family());
    EXPECT_EQ(shape(), family_shape::complete);
}

TEST_P(TableFamily, IsNotWrittenAgainWhenAllIsThere)
{
    create(file_, family());
    const std::string before = file_.value("PRAGMA schema_version");
    create(file_, family());
    EXPECT_EQ(file_.value("PRAGMA schema_version"), before);
    EXPECT_EQ(shape(), family_shape::complete);
}

TEST_P(TableFamily, IsMadeByItsStatementsAloneHoweverOften)
{
    for (int times = 0; times < 2; ++times) {
        for (const std::string& each : completing_statements(family())) {
            file_.sql(each);
        }
        EXPECT_EQ(shape(), family_shape::complete);
    }
}

TEST_P(TableFamily, IsCompletedWhereAnythingOfItIsGone)
{
    create(file_, family());
    const auto complete = file_.sql("SELECT type, name FROM sqlite_schema ORDER BY name");
    for (const std::string& each :
         file_.sql("SELECT type || ' ' || name FROM sqlite_schema WHERE sql IS NOT NULL"
                   " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")) {
        file_.sql("DROP " + each);
        EXPECT_NE(shape(), family_shape::complete) << each;
        create(file_, family());
        EXPECT_EQ(shape(), family_shape::complete) << each;
        EXPECT_EQ(file_.sql("SELECT type, name FROM sqlite_schema ORDER BY name"), complete);
    }
}

TEST_P(TableFamily, IsRefusedWhereANewerSkeinHasExtendedIt)
{
    create(file_, family());
    file_.sql("UPDATE _skein_meta SET version = version + 1");
    EXPECT_THROW(static_cast<void>(shape()), schema_too_new);
    EXPECT_THROW(create(file_, family()), schema_too_new);
}

TEST_P(TableFamily, ChangesNothingWhenItsTransactionIsRolledBack)
{
    file_.sql(known().format);
    const auto before = schema();
    file_.sql("BEGIN IMMEDIATE");
    create_family(skein::sqlite::connection(file_.handle()), family());
    file_.sql("ROLLBACK");
    EXPECT_EQ(schema(), before);
}

TEST_P(TableFamily, IsMadeOnceByManyWhoOpenTheFileTogether)
{
    file_.sql("PRAGMA journal_mode = wal");
    std::vector<std::thread> openers;
    for (int each = 0; each < 8; ++each) {
        openers.emplace_back([this] { create(plain_connection(path_), family()); });
    }
    for (std::thread& each : openers) {
        each.join();
    }
    EXPECT_EQ(shape(), family_shape::complete);
}

INSTANTIATE_TEST_SUITE_P(OfEachBlock, TableFamily, testing::Range(std::size_t{0}, std::size_t{5}),
                         [](const auto& index) { return known_families()[index.param].name; });

TEST(TableFamilies, LiveBesideEachOther)
{
    const skein::support::temporary_directory directory;
    const plain_connection file(directory / "test.db");
    for (const known_family& each : known_families()) {
        create(file, each.family);
    }
    EXPECT_THAT(
        file.sql("SELECT name, version FROM _skein_meta ORDER BY name"),
        ElementsAre("locks|1", "notifications|1", "rate_limits|1", "schedules|1", "streams|1"));
}

} // namespace
