#include "store/cron/time_zone.hpp"
#include "store/error.hpp"
#include "store/process_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::HasSubstr;

const std::filesystem::path database = "/usr/share/zoneinfo";
constexpr std::int64_t year_2100 = 4102444800;

std::string content_of(const std::string& zone)
{
    std::ifstream file(database / zone, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> all_zones()
{
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::recursive_directory_iterator(database)) {
        const std::string name = std::filesystem::relative(each.path(), database).string();
        const bool is_zone = each.is_regular_file() && content_of(name).starts_with("TZif");
        if (is_zone && !name.starts_with("right/") && !name.starts_with("posix/") &&
            name != "localtime") {
            names.push_back(name);
        }
    }
    return names;
}

std::int64_t offset_of_c_library(std::int64_t moment)
{
    const std::time_t time = moment;
    std::tm fields{};
    localtime_r(&time, &fields);
    return fields.tm_gmtoff;
}

TEST(TimeZone, ShowsWhatTheCLibraryShows)
{
    const std::vector<std::string> names = all_zones();
    EXPECT_GT(names.size(), 300U);
    for (const std::string& each : names) {
        const time_zone zone = find_time_zone(each);
        const process_zone same(each);
        // About a month, so that every day of the year comes up, and every hour.
        for (std::int64_t moment = 0; moment < year_2100; moment += 29 * 86400 + 3611) {
            ASSERT_EQ(zone.offset_at(moment), offset_of_c_library(moment))
                << each << " at " << moment;
        }
    }
}

TEST(TimeZone, ChangesItsClocksAtTheSameSecond)
{
    for (const std::string& each : all_zones()) {
        const time_zone zone = find_time_zone(each);
        const process_zone same(each);
        const zone_history history = read_zone_file(each).value();
        for (const zone_history::change& change : history.changes) {
            if (change.moment < 1) {
                continue;
            }
            for (const std::int64_t moment : {change.moment - 1, change.moment}) {
                ASSERT_EQ(zone.offset_at(moment), offset_of_c_library(moment))
                    << each << " at " << moment;
            }
        }
    }
}

TEST(TimeZone, NeverChangesItsClocksTwiceWithinTwoDays)
{
    for (const std::string& each : all_zones()) {
        const zone_history history = read_zone_file(each).value();
        std::int64_t last = 0;
        std::int64_t offset = history.first_offset;
        for (const zone_history::change& change : history.changes) {
            if (change.moment > 0 && change.offset != offset) {
                EXPECT_GT(change.moment - last, 2 * 86400) << each << " at " << change.moment;
                EXPECT_LT(std::abs(change.offset), 86400) << each;
                last = change.moment;
            }
            offset = change.offset;
        }
    }
}

TEST(TimeZone, GoesOnByItsRuleWhereItsFileEnds)
{
    const std::vector<std::pair<std::string, std::string>> rules = {
        {"Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"},
        {"America/New_York", "EST5EDT,M3.2.0,M11.1.0"},
        {"Australia/Lord_Howe", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"},
        {"America/Santiago", "<-04>4<-03>,M9.1.6/24,M4.1.6/24"},
        {"Europe/Dublin", "IST-1GMT0,M10.5.0,M3.5.0/1"},
        {"America/Nuuk", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"},
    };
    for (const auto& [name, text] : rules) {
        const zone_rule rule = parse_zone_rule(text).value();
        const process_zone same(name);
        for (std::int64_t moment = 1767225600; moment < year_2100; moment += 5 * 1801) {
            ASSERT_EQ(rule.offset_at(moment), offset_of_c_library(moment))
                << name << " at " << moment;
        }
    }
}

TEST(TimeZone, HasRulesThatCountDays)
{
    for (const std::string text : {"AAA3BBB,J60/2,J300/2:30:15", "AAA3BBB,59/-3,J365/167",
                                   "AAA-3BBB-5,0/0,365/25", "AAA+3:30BBB2,J1,J59", "AAA3"}) {
        const zone_rule rule = parse_zone_rule(text).value();
        const process_zone same(text);
        // Not at the turn of the year, about which implementations differ.
        for (std::int64_t moment = 1704067200 + 10 * 86400; moment < 1735689600 - 30 * 86400;
             moment += 899) {
            ASSERT_EQ(rule.offset_at(moment), offset_of_c_library(moment))
                << text << " at " << moment;
        }
    }
}

TEST(TimeZone, WithoutARuleThatCanBeReadHasNone)
{
    for (const std::string text :
         {"", "CET", "-1", "CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,J5",
          "CET-1CEST,M3.6.0,J5", "CET-1CEST,M3.5.7,J5", "CET-1CEST,J0,J5", "CET-1CEST,J366,J5",
          "CET-1CEST,366,J5", "CET-168", "CET-1:60", "<CET-1", "<>1", "CET-1CEST,J5,J6x",
          "CET-1CEST,J5/,J6"}) {
        EXPECT_FALSE(parse_zone_rule(text)) << text;
    }
}

TEST(TimeZone, ThatIsUnknownIsRefusedByName)
{
    for (const std::string name : {"Europe/Nowhere", "Europe", "../zoneinfo/UTC", "/etc/localtime",
                                   "Europe/../UTC", "zone.tab", "right/UTC", " UTC", "UTC\n",
                                   "Europe/Berlin/", "CET-1CEST,M3.5.0,M10.5.0/3"}) {
        if (name == "right/UTC" && !std::filesystem::exists(database / name)) {
            continue;
        }
        try {
            (void)find_time_zone(name);
            ADD_FAILURE() << name << " is accepted";
        } catch (const invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr("no zone \"" + name + "\""));
        }
    }
    EXPECT_THROW((void)find_time_zone(std::string("UTC\0", 4)), invalid_argument);
    EXPECT_THROW((void)find_time_zone(std::string(100'000, 'a')), invalid_argument);
}

TEST(TimeZone, IsNotReadFromAFileThatIsCutShort)
{
    const std::string whole = content_of("Europe/Berlin");
    ASSERT_TRUE(parse_zone_file(whole).value().rule);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto history = parse_zone_file(whole.substr(0, size));
        EXPECT_TRUE(!history || history->changes.size() == parse_zone_file(whole)->changes.size());
    }
    for (std::size_t place = 0; place < whole.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(~damaged[place]);
        if (const auto history = parse_zone_file(damaged)) {
            (void)history->offset_at(year_2100);
        }
    }
}

TEST(TimeZone, IsThatOfTheProcessWhenItHasNoName)
{
    const process_zone zone("Asia/Kolkata");
    EXPECT_EQ(find_time_zone("").offset_at(0), 19800);
    const process_zone other("XYZ-3");
    EXPECT_EQ(find_time_zone("").offset_at(0), 10800);
}

TEST(TimeZone, KnowsWhenItsClocksShowATime)
{
    const time_zone berlin = find_time_zone("Europe/Berlin");
    using enum local_moments::kind;
    // 2026-03-29 02:00 to 03:00 is missing; 2026-10-25 02:00 to 03:00 is there twice.
    constexpr std::int64_t gap = 1774749600;
    constexpr std::int64_t repeat = 1792893600;
    EXPECT_EQ(moments_of(berlin, gap - 1).found, once);
    EXPECT_EQ(moments_of(berlin, gap - 1).first, 1774745999);
    const local_moments gone = moments_of(berlin, gap + 1800);
    EXPECT_EQ(gone.found, missing);
    EXPECT_EQ(gone.first, 1774746000);
    EXPECT_EQ(gone.begin, gap);
    EXPECT_EQ(gone.end, gap + 3600);
    EXPECT_EQ(moments_of(berlin, gap).found, missing);
    EXPECT_EQ(moments_of(berlin, gap + 3599).found, missing);
    EXPECT_EQ(moments_of(berlin, gap + 3600).first, 1774746000);
    EXPECT_EQ(moments_of(berlin, repeat - 1).found, once);
    const local_moments again = moments_of(berlin, repeat + 1800);
    EXPECT_EQ(again.found, twice);
    EXPECT_EQ(again.first, 1792888200);
    EXPECT_EQ(again.second, 1792891800);
    EXPECT_EQ(again.begin, repeat);
    EXPECT_EQ(again.end, repeat + 3600);
    EXPECT_EQ(moments_of(berlin, repeat).found, twice);
    EXPECT_EQ(moments_of(berlin, repeat + 3600).found, once);
    EXPECT_EQ(moments_of(berlin, repeat + 3600).first, 1792893600);
}

} // namespace
