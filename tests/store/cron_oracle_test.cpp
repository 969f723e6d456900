#include "store/cron/cron_expression.hpp"
#include "store/cron/cron_occurrence.hpp"
#include "store/cron_oracle.hpp"
#include "store/process_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;

constexpr std::int64_t one_day = 86400;
constexpr std::int64_t year_2010 = 1262304000;
constexpr std::int64_t year_2060 = 2840140800;

class CronOracle : public testing::TestWithParam<std::string> {
protected:
    /// Somewhere in these years; every other time within a day of a change of the clocks.
    std::int64_t any_moment()
    {
        std::uniform_int_distribution<std::int64_t> moments(year_2010, year_2060);
        const std::int64_t moment = moments(chance_);
        if (changes_.empty() || chance_() % 2 == 0) {
            return moment;
        }
        std::uniform_int_distribution<std::int64_t> nearby(-30 * 3600, 7200);
        return changes_[chance_() % changes_.size()] + nearby(chance_);
    }

    static std::vector<std::int64_t> find_changes()
    {
        const time_zone zone = find_time_zone("");
        std::vector<std::int64_t> all;
        for (std::int64_t day = year_2010; day < year_2060; day += one_day) {
            if (zone.offset_at(day) != zone.offset_at(day + one_day)) {
                all.push_back(day + one_day);
            }
        }
        return all;
    }

    /// Follows the moments for two days, as the oracle knows them.
    void follow(const oracle_expression& expected, const std::string& zone)
    {
        const std::string text = (zone.empty() ? "" : "CRON_TZ=" + zone + " ") + expected.text();
        const cron_expression read = parse_cron(text, cron_grammar::extended);
        const time_zone clocks = find_time_zone(read.zone);
        std::int64_t after = any_moment();
        const std::int64_t until = after + (expected.second ? one_day / 4 : 2 * one_day);
        constexpr std::size_t most = 5;
        const auto wanted = slow_moments(expected, !zone.empty(), after, until, most);
        for (const std::int64_t each : wanted) {
            ASSERT_EQ(next_occurrence(read, clocks, after), each) << text << " after " << after;
            after = each;
        }
        if (wanted.size() < most) {
            ASSERT_GT(next_occurrence(read, clocks, after).value_or(until + 1), until)
                << text << " after " << after;
        }
    }

    process_zone zone_{GetParam()};
    std::mt19937 chance_{20260314};
    std::vector<std::int64_t> changes_ = find_changes();
};

TEST_P(CronOracle, AgreesWithAZone)
{
    for (int each = 0; each < 80 && !HasFatalFailure(); ++each) {
        follow(any_expression(chance_), GetParam());
    }
}

TEST_P(CronOracle, AgreesInTheZoneOfTheProcess)
{
    for (int each = 0; each < 80 && !HasFatalFailure(); ++each) {
        follow(any_expression(chance_), "");
    }
}

std::string name_of(const testing::TestParamInfo<std::string>& info)
{
    std::string name = info.param;
    std::erase_if(name, [](char each) { return each == '/' || each == '_'; });
    return name;
}

// A half-hour shift, the south, gaps at midnight, summer time in winter, a skipped day, and the
// plain ones.
INSTANTIATE_TEST_SUITE_P(Zones, CronOracle,
                         testing::Values("Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                         "America/Santiago", "America/Sao_Paulo", "America/Havana",
                                         "Europe/Dublin", "Africa/Casablanca", "Pacific/Apia",
                                         "Asia/Kolkata", "UTC"),
                         name_of);

} // namespace
