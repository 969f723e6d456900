#include "store/cron/cron_expression.hpp"
#include "store/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace skein::store;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string registered(const std::string& text)
{
    return parse_cron(text, cron_grammar::registered).text;
}

std::vector<unsigned> values(const cron_field& field)
{
    std::vector<unsigned> all;
    for (unsigned each = 0; each < 64; ++each) {
        if (field.has(each)) {
            all.push_back(each);
        }
    }
    return all;
}

std::string refusal(const std::string& text, cron_grammar grammar = cron_grammar::registered)
{
    try {
        return "accepted as " + parse_cron(text, grammar).text;
    } catch (const invalid_argument& error) {
        return error.what();
    }
}

TEST(CronExpression, HasFiveFieldsOrSix)
{
    const cron_expression five = parse_cron("1 2 3 4 5", cron_grammar::shared);
    EXPECT_THAT(values(five.second), ElementsAre(0));
    EXPECT_THAT(values(five.minute), ElementsAre(1));
    EXPECT_THAT(values(five.hour), ElementsAre(2));
    EXPECT_THAT(values(five.day), ElementsAre(3));
    EXPECT_THAT(values(five.month), ElementsAre(4));
    EXPECT_THAT(values(five.weekday), ElementsAre(5));
    EXPECT_EQ(five.interval, 0);
    const cron_expression six = parse_cron("\t59 1 2\n3 4  5 ", cron_grammar::shared);
    EXPECT_THAT(values(six.second), ElementsAre(59));
    EXPECT_THAT(values(six.minute), ElementsAre(1));
    EXPECT_EQ(six.text, "59 1 2 3 4 5");
}

TEST(CronExpression, HasListsRangesAndSteps)
{
    const cron_expression read = parse_cron("5,1-3,*/20 8-18/5 29-31 +2 0,6", cron_grammar::shared);
    EXPECT_THAT(values(read.minute), ElementsAre(0, 1, 2, 3, 5, 20, 40));
    EXPECT_THAT(values(read.hour), ElementsAre(8, 13, 18));
    EXPECT_THAT(values(read.day), ElementsAre(29, 30, 31));
    EXPECT_THAT(values(read.month), ElementsAre(2));
    EXPECT_THAT(values(read.weekday), ElementsAre(0, 6));
    EXPECT_FALSE(read.minute.starts_with_star);
    EXPECT_EQ(read.text, "5,1-3,*/20 8-18/5 29-31 2 0,6");
    const cron_expression stars = parse_cron("* */100 */1 *,3 */2", cron_grammar::shared);
    EXPECT_EQ(values(stars.minute).size(), 60U);
    EXPECT_THAT(values(stars.hour), ElementsAre(0));
    EXPECT_EQ(values(stars.day).size(), 31U);
    EXPECT_EQ(values(stars.month).size(), 12U);
    EXPECT_THAT(values(stars.weekday), ElementsAre(0, 2, 4, 6));
    EXPECT_TRUE(stars.hour.starts_with_star && stars.month.starts_with_star);
    EXPECT_EQ(stars.text, "* */100 * *,3 */2");
}

TEST(CronExpression, TakesALoneNumberWithAStepFromAFileOnly)
{
    const cron_expression read = parse_cron("5/15 * * * *", cron_grammar::shared);
    EXPECT_THAT(values(read.minute), ElementsAre(5));
    EXPECT_EQ(read.text, "5 * * * *");
    EXPECT_EQ(parse_cron("5/15 * * * *", cron_grammar::extended).text, "5 * * * *");
    EXPECT_THAT(refusal("5/15 * * * *"), AllOf(HasSubstr("character 1"), HasSubstr("5-59/15")));
    EXPECT_THAT(refusal("0 0 * * MON/2"), AllOf(HasSubstr("character 9"), HasSubstr("1-6/2")));
    EXPECT_THAT(refusal("0 0 3,4/2 * *"), AllOf(HasSubstr("character 7"), HasSubstr("4-31/2")));
}

TEST(CronExpression, IsRegisteredInNumbersAlone)
{
    const std::vector<std::pair<std::string, std::string>> texts = {
        {"0 0 * JAN-mar,Dec MON-FRI", "0 0 * 1-3,12 1-5"},
        {"0 0 * * 7", "0 0 * * 0"},
        {"0 0 * * 5-7", "0 0 * * 5,6,0"},
        {"0 0 * * FRI-SUN", "0 0 * * 5,6,0"},
        {"0 0 * * SUN-TUE", "0 0 * * 0-2"},
        {"0 0 * * SUN-SUN", "0 0 * * 0-0"},
        {"0 0 * * 1-7/3,7", "0 0 * * 1,4,0,0"},
        {"+007 00 * * */3", "7 0 * * */3"},
        {"*/1 5-5 * * *", "* 5-5 * * *"},
        {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
        {" @monthly\n", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"},
        {"@daily", "0 0 * * *"},
        {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"},
        {"CRON_TZ=Europe/Berlin  0 0 * * SAT", "CRON_TZ=Europe/Berlin 0 0 * * 6"},
        {"CRON_TZ=UTC @daily", "CRON_TZ=UTC 0 0 * * *"},
        {"@every5m", "@every 5m"},
        {"@every \t 90s", "@every 90s"},
    };
    for (const auto& [text, expected] : texts) {
        EXPECT_EQ(registered(text), expected);
        EXPECT_EQ(registered(expected), expected);
        EXPECT_EQ(parse_cron(expected, cron_grammar::extended),
                  parse_cron(text, cron_grammar::registered));
        if (!text.starts_with("CRON_TZ=")) {
            EXPECT_EQ(parse_cron(expected, cron_grammar::shared),
                      parse_cron(text, cron_grammar::registered));
        }
    }
}

TEST(CronExpression, CountsAnInterval)
{
    EXPECT_EQ(parse_cron("@every 1s", cron_grammar::shared).interval, 1);
    EXPECT_EQ(parse_cron("@every 2m", cron_grammar::shared).interval, 120);
    EXPECT_EQ(parse_cron("@every 3h", cron_grammar::shared).interval, 10800);
    EXPECT_EQ(parse_cron("@every 4d", cron_grammar::shared).interval, 345600);
    EXPECT_EQ(parse_cron("@every 9223372036854775807s", cron_grammar::shared).interval,
              9223372036854775807);
}

TEST(CronExpression, KeepsItsZone)
{
    const cron_expression read =
        parse_cron("CRON_TZ=America/New_York 30 2 13 * FRI", cron_grammar::registered);
    EXPECT_EQ(read.zone, "America/New_York");
    EXPECT_TRUE(read.restricts_both_days());
    EXPECT_FALSE(parse_cron("0 0 */13 * 5", cron_grammar::shared).restricts_both_days());
    EXPECT_FALSE(parse_cron("0 0 13 * *", cron_grammar::shared).restricts_both_days());
    EXPECT_FALSE(parse_cron("@every 5s", cron_grammar::shared).restricts_both_days());
}

TEST(CronExpression, WithAnotherNumberOfFieldsIsRefused)
{
    const std::string phrase =
        "schedule expression requires 5 or 6 cron fields, or '@every <n><unit>'; got ";
    for (const auto& [text, count] :
         std::vector<std::pair<std::string, std::string>>{{"", "0"},
                                                          {"  ", "0"},
                                                          {"*", "1"},
                                                          {"@reboot", "1"},
                                                          {"@Daily", "1"},
                                                          {"@Every 5s", "2"},
                                                          {"* * * *", "4"},
                                                          {"* * * * * * *", "7"},
                                                          {"CRON_TZ=UTC", "0"},
                                                          {"CRON_TZ=UTC * * *", "3"}}) {
        EXPECT_THAT(refusal(text), HasSubstr(phrase + count)) << text;
    }
    EXPECT_THAT(refusal("@hourly", cron_grammar::shared), HasSubstr(phrase + "1"));
}

TEST(CronExpression, ThatIsRefusedSaysWhereAndWhy)
{
    struct refused {
        std::string text;
        std::string where;
        std::string why;
    };
    const std::vector<refused> texts = {
        {"60 * * * *", "character 1 (\"60\")", "minute: not within 0-59"},
        {"60 * * * * *", "character 1 (\"60\")", "second: not within 0-59"},
        {"* 24 * * *", "character 3 (\"24\")", "hour: not within 0-23"},
        {" * * 0 * *", "character 6 (\"0\")", "day of the month: not within 1-31"},
        {"* * 32 * *", "character 5 (\"32\")", "day of the month: not within 1-31"},
        {"* * * 0 *", "character 7 (\"0\")", "month: not within 1-12"},
        {"* * * 13 *", "character 7 (\"13\")", "month: not within 1-12"},
        {"* * * * 8", "character 9 (\"8\")", "day of the week: not within 0-7"},
        {"* * * * 99999999999999999999", "character 9", "day of the week: not within 0-7"},
        {"1,2,5-1 * * * *", "character 5 (\"5-1\")", "ends before it begins"},
        {"* * * * SAT-MON", "character 9 (\"SAT-MON\")", "ends before it begins"},
        {"*/0 * * * *", "character 3 (\"0\")", "the step must not be 0"},
        {"*/ * * * *", "character 1 (\"*/\")", "the step is not a number"},
        {"*/-1 * * * *", "character 3 (\"-1\")", "the step is not a number"},
        {"*/2/3 * * * *", "character 3 (\"2/3\")", "the step is not a number"},
        {"1,,2 * * * *", "character 1 (\"1,,2\")", "a part of the list is empty"},
        {"1, * * * *", "character 1 (\"1,\")", "a part of the list is empty"},
        {", * * * *", "character 1 (\",\")", "a part of the list is empty"},
        {"/5 * * * *", "character 1 (\"/5\")", "a number is missing"},
        {"-5 * * * *", "character 1 (\"-5\")", "a number is missing"},
        {"5- * * * *", "character 1 (\"5-\")", "a number is missing"},
        {"1-2-3 * * * *", "character 3 (\"2-3\")", "minute: not a number"},
        {"MON * * * *", "character 1 (\"MON\")", "minute: not a number"},
        {"? * * * *", "character 1 (\"?\")", "not a number"},
        {"** * * * *", "character 1 (\"**\")", "not a number"},
        {"* * L * *", "character 5 (\"L\")", "not a number"},
        {"* * 15W * *", "character 5 (\"15W\")", "not a number"},
        {"* * * MON *", "character 7 (\"MON\")", "nor a name from JAN to DEC"},
        {"* * * JANUARY *", "character 7 (\"JANUARY\")", "nor a name from JAN to DEC"},
        {"* * * * 5#2", "character 9 (\"5#2\")", "nor a name from SUN to SAT"},
        {"* * * * ++1", "character 9 (\"++1\")", "not a number"},
        {"@every", "character 1 (\"@every\")", "after @every comes a number"},
        {"@every 5", "character 8 (\"5\")", "after @every comes a number"},
        {"@every s", "character 8 (\"s\")", "after @every comes a number"},
        {"@every 5 s", "character 8 (\"5 s\")", "after @every comes a number"},
        {"@every 5w", "character 8 (\"5w\")", "after @every comes a number"},
        {"@every 1h30m", "character 8 (\"1h30m\")", "after @every comes a number"},
        {"@every -5s", "character 8 (\"-5s\")", "after @every comes a number"},
        {"@every +5s", "character 8 (\"+5s\")", "after @every comes a number"},
        {"@every 0s", "character 8 (\"0s\")", "must not be 0"},
        {"@every 9223372036854775808s", "character 8", "too long"},
        {"@every 9223372036854775807m", "character 8", "too long"},
        {"@every 9999999999h", "character 8 (\"9999999999h\")", "longer than 100 years"},
        {"CRON_TZ= * * * * *", "character 1 (\"CRON_TZ=\")", "lacks the name of a zone"},
        {"CRON_TZ=UTC @every 5s", "character 13 (\"@every 5s\")", "to which a zone means nothing"},
        {"CRON_TZ=UTC 0 25 * * *", "character 15 (\"25\")", "hour: not within 0-23"},
    };
    for (const refused& each : texts) {
        EXPECT_THAT(refusal(each.text), AllOf(HasSubstr(each.where), HasSubstr(each.why)));
    }
}

TEST(CronExpression, OfTheSharedGrammarHasNumbersAlone)
{
    EXPECT_THAT(refusal("0 0 * JAN *", cron_grammar::shared), HasSubstr("month: not a number"));
    EXPECT_THAT(refusal("0 0 * * 7", cron_grammar::shared), HasSubstr("not within 0-6"));
    EXPECT_THAT(refusal("CRON_TZ=UTC 0 0 * * 1", cron_grammar::shared), HasSubstr("second: not a"));
}

TEST(CronExpression, ThatIsVeryLongIsRefusedInShort)
{
    EXPECT_EQ(refusal(std::string(2000, '1')),
              "schedule expression has 2000 bytes; it may have 1024");
    EXPECT_LT(refusal(std::string(1'000'000, '1') + " * * * *", cron_grammar::shared).size(), 200U);
    EXPECT_LT(refusal(std::string(1'000'000, '\xff') + " * * * *", cron_grammar::shared).size(),
              300U);
    std::string list = "0";
    for (int each = 0; each < 100'000; ++each) {
        list += ",0";
    }
    EXPECT_THAT(values(parse_cron(list + " * * * *", cron_grammar::shared).minute), ElementsAre(0));
}

} // namespace
