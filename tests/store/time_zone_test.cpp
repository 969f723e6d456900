#include "store/cron/time_zone.hpp"
#include "store/error.hpp"
#include "store/process_zone.hpp"

#include "support/temporary_directory.hpp"

#include <absl/time/time.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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

/// The moments from 1970 to 2100 at which the clocks of a zone change.
std::vector<std::int64_t> changes_of(const std::string& name)
{
    absl::TimeZone zone;
    EXPECT_TRUE(absl::LoadTimeZone(name, &zone)) << name;
    std::vector<std::int64_t> moments;
    absl::TimeZone::CivilTransition change;
    absl::Time last = absl::UnixEpoch();
    while (zone.NextTransition(last, &change) && last < absl::FromUnixSeconds(year_2100)) {
        last = zone.At(change.to).trans;
        moments.push_back(absl::ToUnixSeconds(last));
    }
    return moments;
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
    std::size_t count = 0;
    for (const std::string& each : all_zones()) {
        const time_zone zone = find_time_zone(each);
        const process_zone same(each);
        for (const std::int64_t change : changes_of(each)) {
            for (const std::int64_t moment : {change - 1, change}) {
                ASSERT_EQ(zone.offset_at(moment), offset_of_c_library(moment))
                    << each << " at " << moment;
            }
            ++count;
        }
    }
    EXPECT_GT(count, 10'000U);
}

TEST(TimeZone, NeverChangesItsClocksTwiceWithinTwoDays)
{
    for (const std::string& each : all_zones()) {
        const time_zone zone = find_time_zone(each);
        std::int64_t last = 0;
        for (const std::int64_t change : changes_of(each)) {
            EXPECT_LT(std::abs(zone.offset_at(change)), 86400) << each;
            if (zone.offset_at(change) != zone.offset_at(change - 1)) {
                EXPECT_GT(change - last, 2 * 86400) << each << " at " << change;
                last = change;
            }
        }
    }
}

TEST(TimeZone, GoesOnByItsRuleWhereItsFileEnds)
{
    constexpr std::int64_t year_2026 = 1767225600;
    for (const std::string name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                   "America/Santiago", "Europe/Dublin", "America/Nuuk"}) {
        const time_zone zone = find_time_zone(name);
        const process_zone same(name);
        for (std::int64_t moment = year_2026; moment < year_2100; moment += 5 * 1801) {
            ASSERT_EQ(zone.offset_at(moment), offset_of_c_library(moment))
                << name << " at " << moment;
        }
    }
}

TEST(TimeZone, HasSummerTimeInFarYears)
{
    constexpr std::int64_t january_2040 = 2209032000;
    constexpr std::int64_t january_2090 = 3786955200;
    constexpr std::int64_t half_a_year = 182 * 86400;
    const time_zone berlin = find_time_zone("Europe/Berlin");
    const time_zone lord_howe = find_time_zone("Australia/Lord_Howe");
    for (const std::int64_t january : {january_2040, january_2090}) {
        EXPECT_EQ(berlin.offset_at(january), 3600);
        EXPECT_EQ(berlin.offset_at(january + half_a_year), 7200);
        EXPECT_EQ(lord_howe.offset_at(january), 39600) << "half an hour of it, in the south";
        EXPECT_EQ(lord_howe.offset_at(january + half_a_year), 37800);
    }
}

TEST(TimeZone, ThatIsUnknownIsRefusedByName)
{
    for (const std::string name :
         {"Europe/Nowhere", "Europe", "../zoneinfo/UTC", "/etc/localtime", "Europe/../UTC",
          "zone.tab", "right/UTC", " UTC", "UTC\n", "Europe/Berlin/", "Europe//Berlin",
          "CET-1CEST,M3.5.0,M10.5.0/3", "localtime", "libc:UTC", "libc:localtime",
          "Fixed/UTC+01:00:00", "file:Europe/Berlin", "file:/usr/share/zoneinfo/UTC"}) {
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

TEST(TimeZone, IsReadFromTheFolderThatTzdirNames)
{
    const skein::support::temporary_directory folder;
    std::filesystem::create_directory(folder / "Skein");
    std::filesystem::copy_file(database / "Asia/Kolkata", folder / "Skein/Here");
    std::ofstream(folder / "Skein/Half", std::ios::binary)
        << content_of("Europe/Berlin").substr(0, content_of("Europe/Berlin").size() / 2);
    std::ofstream(folder / "Skein/None") << "no zone";

    setenv("TZDIR", folder.path().c_str(), 1);
    EXPECT_EQ(find_time_zone("Skein/Here").offset_at(0), 19800);
    EXPECT_THROW((void)find_time_zone("Skein/Half"), invalid_argument);
    EXPECT_THROW((void)find_time_zone("Skein/None"), invalid_argument);
    EXPECT_THROW((void)find_time_zone("Skein"), invalid_argument);
    unsetenv("TZDIR");
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
