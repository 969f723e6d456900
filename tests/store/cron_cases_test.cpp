#include "store/cron/cron_expression.hpp"
#include "store/cron/cron_occurrence.hpp"
#include "store/process_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace skein::store;

nlohmann::json cases_of(const std::string& name)
{
    std::ifstream file(std::filesystem::path(SKEIN_CRON_CASES) / name);
    return nlohmann::json::parse(file);
}

std::vector<std::int64_t> moments(const cron_expression& expression, std::int64_t from,
                                  std::size_t count)
{
    const time_zone zone = find_time_zone(expression.zone);
    std::vector<std::int64_t> all;
    while (all.size() < count) {
        from = next_occurrence(expression, zone, from).value();
        all.push_back(from);
    }
    return all;
}

void expect_moments(const nlohmann::json& each, const std::string& text, cron_grammar grammar)
{
    const auto expected = each.at("next").get<std::vector<std::int64_t>>();
    const auto from = each.at("from").get<std::int64_t>();
    const cron_expression expression = parse_cron(text, grammar);
    EXPECT_EQ(moments(expression, from, expected.size()), expected) << each.dump();
    const cron_expression stored = parse_cron(expression.text, cron_grammar::extended);
    EXPECT_EQ(moments(stored, from, expected.size()), expected) << expression.text;
}

TEST(CronCases, OfPlainExpressionsHold)
{
    const process_zone zone("UTC");
    const nlohmann::json cases = cases_of("plain.json");
    EXPECT_EQ(cases.size(), 400U);
    for (const nlohmann::json& each : cases) {
        expect_moments(each, each.at("expr"), cron_grammar::shared);
    }
}

TEST(CronCases, OfExpressionsWithAZoneHold)
{
    const nlohmann::json cases = cases_of("zoned.json");
    EXPECT_EQ(cases.size(), 400U);
    for (const nlohmann::json& each : cases) {
        expect_moments(each,
                       "CRON_TZ=" + each.at("zone").get<std::string>() + " " +
                           each.at("expr").get<std::string>(),
                       cron_grammar::extended);
    }
}

TEST(CronCases, OfChangesOfClocksHoldWithAZone)
{
    const nlohmann::json cases = cases_of("zoned-dst.json");
    EXPECT_EQ(cases.size(), 18U);
    for (const nlohmann::json& each : cases) {
        expect_moments(each,
                       "CRON_TZ=" + each.at("zone").get<std::string>() + " " +
                           each.at("expr").get<std::string>(),
                       cron_grammar::registered);
    }
}

TEST(CronCases, OfChangesOfClocksHoldInTheZoneOfTheProcess)
{
    for (const nlohmann::json& each : cases_of("zoned-dst.json")) {
        const process_zone zone(each.at("zone"));
        expect_moments(each, each.at("expr"), cron_grammar::registered);
    }
}

} // namespace
