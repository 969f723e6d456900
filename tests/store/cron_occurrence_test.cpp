#include "store/cron/cron_expression.hpp"
#include "store/cron/cron_occurrence.hpp"
#include "store/process_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;

constexpr std::int64_t year_2026 = 1767225600;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> next(const std::string& text, std::int64_t after = year_2026)
{
    const cron_expression expression = parse_cron(text, cron_grammar::extended);
    return next_occurrence(expression, find_time_zone(expression.zone), after);
}

std::vector<std::int64_t> moments(const std::string& text, std::int64_t after, int count)
{
    std::vector<std::int64_t> all;
    for (int each = 0; each < count; ++each) {
        after = next(text, after).value_or(0);
        all.push_back(after);
    }
    return all;
}

TEST(CronOccurrence, IsStrictlyLater)
{
    const process_zone zone("UTC");
    EXPECT_EQ(next("0 0 1 1 *", year_2026 - 1), year_2026);
    EXPECT_EQ(next("0 0 1 1 *", year_2026), year_2026 + 365 * 86400);
    EXPECT_EQ(next("* * * * * *", 5), 6);
    EXPECT_EQ(next("* * * * *", 60), 120);
}

TEST(CronOccurrence, OfAnIntervalCountsFromTheMoment)
{
    EXPECT_EQ(next("@every 5s", 7), 12);
    EXPECT_EQ(next("@every 2d", -1), 2 * 86400 - 1);
    EXPECT_EQ(next("@every 1s", most_positive - 1), most_positive);
    EXPECT_EQ(next("@every 1s", most_positive), std::nullopt);
    EXPECT_EQ(next("@every 2s", most_positive - 1), std::nullopt);
    EXPECT_EQ(next("@every 1s", most_negative), most_negative + 1);
}

TEST(CronOccurrence, OfADateThatIsNeverIsNever)
{
    const process_zone zone("UTC");
    for (const std::string text : {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 4 1"}) {
        EXPECT_EQ(next(text), std::nullopt) << text;
        EXPECT_EQ(next("CRON_TZ=Europe/Berlin " + text.substr(0, text.size() - 1) + "*"),
                  std::nullopt);
    }
}

TEST(CronOccurrence, OfARareDateIsFound)
{
    const process_zone zone("UTC");
    EXPECT_EQ(next("0 0 29 2 *", 3981398400), 4233686400) << "2100 is no leap year";
    // The Mondays among them: 2044 and 2072, and then the one behind 2100.
    EXPECT_THAT(moments("0 0 29 2 1", year_2026, 3),
                ElementsAre(2340316800, 3223929600, 4486147200));
}

TEST(CronOccurrence, HasEitherDayWithAZoneAndBothWithout)
{
    const process_zone zone("UTC");
    // 2026-01-01 is a Thursday; the 13th is a Tuesday; Friday the 13th comes in February.
    EXPECT_EQ(next("0 0 13 * 5"), year_2026 + (31 + 12) * 86400);
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 13 * 5"), year_2026 + 86400);
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 13 * 1"), year_2026 + 4 * 86400);
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 13 * *"), year_2026 + 12 * 86400);
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 * * 5"), year_2026 + 86400);
    // A field that starts with * restricts nothing by itself, and is still one to be fitted.
    EXPECT_EQ(next("CRON_TZ=UTC 0 0 */13 * 5"), 1772150400) << "2026-02-27";
}

TEST(CronOccurrence, OfAMissingMidnightIsTheFirstMomentBehindIt)
{
    // America/Santiago, 2026-09-06: 00:00 is 01:00.
    constexpr std::int64_t change = 1788667200;
    EXPECT_EQ(next("CRON_TZ=America/Santiago 0 0 * * *", change - 3600), change);
    EXPECT_EQ(next("CRON_TZ=America/Santiago 30 0 6 9 *", change - 3600), change);
    EXPECT_EQ(next("CRON_TZ=America/Santiago 0 0,1 * * *", change), change + 23 * 3600);
    EXPECT_EQ(next("CRON_TZ=America/Santiago 30 * 6 * *", change - 3600), change + 1800);
}

TEST(CronOccurrence, OfADayThatWasSkippedIsTheFirstMomentBehindIt)
{
    // Samoa had no 2011-12-30.
    constexpr std::int64_t change = 1325239200;
    EXPECT_EQ(next("CRON_TZ=Pacific/Apia 0 12 30 12 *", change - 86400), change);
    EXPECT_EQ(next("CRON_TZ=Pacific/Apia 0 12 * * *", change), change + 12 * 3600);
    EXPECT_EQ(next("CRON_TZ=Pacific/Apia * * 30 12 *", change - 86400), 1356775200)
        << "a year later: 2012-12-30 00:00";
}

TEST(CronOccurrence, GoesOnByTheRulesOfTodayInFarYears)
{
    constexpr std::int64_t year_2060 = 2840140800;
    EXPECT_EQ(next("CRON_TZ=Europe/Berlin 0 8 1 7 *", year_2060), 2855887200) << "summer time";
    EXPECT_EQ(next("CRON_TZ=Europe/Berlin 0 8 1 12 *", year_2060), 2869110000);
}

TEST(CronOccurrence, ToleratesEveryMoment)
{
    const process_zone zone("Europe/Berlin");
    for (const std::string prefix : {"", "CRON_TZ=Europe/Berlin "}) {
        EXPECT_EQ(next(prefix + "0 0 * * *", most_positive), std::nullopt);
        EXPECT_EQ(next(prefix + "* * * * *", 253402300799), std::nullopt);
        EXPECT_LT(next(prefix + "* * * * *", most_negative).value(), -62135000000);
        EXPECT_LT(next(prefix + "0 3 * * *", most_negative).value(), -62135000000);
    }
}

} // namespace
