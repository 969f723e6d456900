#include "store/error.hpp"
#include "store/json_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using namespace skein::store;
using testing::HasSubstr;
using testing::StartsWith;

/// What the check says, or "accepted".
std::string verdict(std::string_view text)
{
    try {
        require_json(text);
        return "accepted";
    } catch (const invalid_payload& refusal) {
        return refusal.what();
    }
}

std::string nested(int depth)
{
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
}

TEST(JsonText, MayBeAnyValue)
{
    for (const char* const each :
         {"{}", "[]", "42", "-0.5e-3", "\"text\"", "true", "false", "null", " \n{\"a\": [1]}\t",
          "\"\\ud83d\\ude00\"", "123456789012345678901234567890", "{\"a\":1,\"a\":2}", "1e308"}) {
        EXPECT_EQ(verdict(each), "accepted") << each;
    }
}

TEST(JsonText, IsRefusedWhereItDoesNotFollowTheGrammar)
{
    using namespace std::string_view_literals;
    for (const std::string_view each : {""sv,
                                        " "sv,
                                        "not json"sv,
                                        "{'a': 1}"sv,
                                        "{\"a\":}"sv,
                                        "[1,]"sv,
                                        "01"sv,
                                        "1."sv,
                                        "+1"sv,
                                        "NaN"sv,
                                        "{} {}"sv,
                                        "/* c */ 1"sv,
                                        "\"a\nb\""sv,
                                        "\"\\x\""sv,
                                        "\"open"sv,
                                        "{}\0"sv,
                                        "{}\0more"sv,
                                        "\"a\0b\""sv,
                                        "\xEF\xBB\xBF{}"sv,
                                        "\"\xFF\""sv,
                                        "\"\xC0\x80\""sv,
                                        "\"\xED\xA0\x80\""sv}) {
        EXPECT_THAT(verdict(each), StartsWith("payload must be valid JSON: ")) << each;
    }
}

TEST(JsonText, IsRefusedWhereNoStrictDecoderCouldReadIt)
{
    for (const std::string& each :
         {std::string("\"\\ud800\""), std::string("\"\\udc00\""), std::string("\"\\ud800\\u0041\""),
          std::string("1e999"), std::string("[-1e999]"), nested(deepest_json + 1)}) {
        EXPECT_THAT(verdict(each), StartsWith("payload is valid JSON but cannot be decoded: "))
            << each;
    }
}

TEST(JsonText, IsNotMistakenForASurrogateWhenItOnlySpeaksOfOne)
{
    EXPECT_THAT(verdict("\"surrogate"), StartsWith("payload must be valid JSON: "));
}

TEST(JsonText, MayBeNestedAsDeepAsIsSaid)
{
    EXPECT_EQ(verdict(nested(deepest_json)), "accepted");
    EXPECT_THAT(verdict(nested(100'000)), HasSubstr("nesting deeper than 128"));
}

TEST(JsonText, TellsWhereItIsWrong)
{
    EXPECT_THAT(verdict("{\"a\": x}"), HasSubstr("at line 1 column 7"));
    EXPECT_THAT(verdict("{\n\"a\": x}"), HasSubstr("at line 2 column 6"));
    EXPECT_THAT(verdict(""), HasSubstr("at line 1 column 1"));
    EXPECT_THAT(verdict("[1"), HasSubstr("at line 1 column 3"));
}

} // namespace
