#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"

#include <skein/json.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shipping {

struct parcel {
    std::string to;
    int weight = 0;

    friend bool operator==(const parcel&, const parcel&) = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(parcel, to, weight)

/// Not known to nlohmann's library.
struct reading {
    double value = 0;
};

} // namespace shipping

template <>
struct skein::payload_codec<shipping::reading> {
    static std::string encode(const shipping::reading& value)
    {
        return std::to_string(value.value);
    }
    static shipping::reading decode(std::string_view text)
    {
        return {std::stod(std::string(text))};
    }
};

namespace {

using namespace skein;
using shipping::parcel;

class TransportJson : public ::testing::Test {
protected:
    message claim() { return database_.run(transport_.claim()); }

    template <class Function>
    static std::error_code code_of(Function&& function)
    {
        try {
            function();
        } catch (const error& refused) {
            return refused.code();
        }
        return {};
    }

    support::manual_database database_;
    skein::transport transport_ = database_.database().transport();
};

TEST_F(TransportJson, CarriesADocument)
{
    const nlohmann::json document = {{"to", "ann"}, {"lines", {1, 2.5, nullptr, true, "\u00fc"}}};
    database_.run(transport_.publish("g", document));
    const message claimed = claim();
    EXPECT_EQ(claimed.payload<nlohmann::json>(), document);
    EXPECT_EQ(claimed.payload(), document.dump()) << "compact text";
}

TEST_F(TransportJson, CarriesATypeOfTheUsers)
{
    const parcel sent{"ann", 7};
    database_.run(transport_.publish("g", sent));
    const message claimed = claim();
    EXPECT_EQ(claimed.payload<parcel>(), sent);
    EXPECT_EQ(claimed.payload(), R"({"to":"ann","weight":7})");
}

TEST_F(TransportJson, CarriesATypeWithACodecOfItsOwn)
{
    const shipping::reading sent{1.5};
    database_.run(transport_.publish("g", sent));
    EXPECT_EQ(claim().payload<shipping::reading>().value, 1.5);
}

TEST_F(TransportJson, TakesOptionsLikeText)
{
    const parcel sent{"ann", 7};
    database_.run(transport_.publish("g", sent, {.priority = 3, .routing_key = "a"}));
    const std::string_view keys[] = {"a"};
    const auto claimed =
        database_.run(transport_.try_claim({.min_priority = 3, .routing_keys = keys}));
    ASSERT_TRUE(claimed);
    EXPECT_EQ(claimed->payload<parcel>(), sent);
}

TEST_F(TransportJson, DoesNotTakeTextForADocument)
{
    database_.run(transport_.publish("g", "plain"));
    EXPECT_EQ(claim().payload(), "plain");
    const std::string text = "text";
    database_.run(transport_.publish("h", text));
    EXPECT_EQ(claim().payload(), "text");
}

TEST_F(TransportJson, APayloadThatDoesNotParseStaysAckable)
{
    database_.run(transport_.publish("g", "{\"to\": "));
    database_.run(transport_.publish("g", "next"));
    message claimed = claim();
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<nlohmann::json>()); }),
              make_error_code(errc::invalid_payload));
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<parcel>()); }),
              make_error_code(errc::invalid_payload));
    EXPECT_EQ(claimed.payload(), "{\"to\": ");
    EXPECT_TRUE(database_.run(claimed.ack()));
    EXPECT_EQ(claim().payload(), "next");
}

TEST_F(TransportJson, APayloadThatLacksWhatTheTypeWantsIsInvalid)
{
    for (const char* const text : {R"({"to":"ann"})", R"({"to":1,"weight":2})", "[]", "null", "",
                                   "7", R"({"to":"ann","weight":2} trailing)"}) {
        database_.run(transport_.publish("g", text));
        message claimed = claim();
        EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<parcel>()); }),
                  make_error_code(errc::invalid_payload))
            << text;
        EXPECT_TRUE(database_.run(claimed.ack()));
    }
}

TEST_F(TransportJson, TextThatIsNotUtf8IsRefusedAndNothingIsPublished)
{
    for (const char* const text : {"\xff", "half \xc3", "\xed\xa0\x80"}) {
        const parcel sent{text, 7};
        EXPECT_EQ(code_of([&] { database_.run(transport_.publish("g", sent)); }),
                  make_error_code(errc::invalid_payload));
        const nlohmann::json document = {{"key", text}};
        EXPECT_EQ(code_of([&] { database_.run(transport_.publish("g", document)); }),
                  make_error_code(errc::invalid_payload));
    }
    EXPECT_FALSE(database_.run(transport_.try_claim()));
}

TEST_F(TransportJson, AStoredTextThatIsNotUtf8IsInvalidAndStaysAckable)
{
    database_.run(transport_.publish("g", "{\"to\":\"\xff\",\"weight\":1}"));
    message claimed = claim();
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<parcel>()); }),
              make_error_code(errc::invalid_payload));
    EXPECT_TRUE(database_.run(claimed.ack()));
}

TEST_F(TransportJson, DeepNestingIsInvalidOrParsedButNeverACrash)
{
    database_.run(transport_.publish("g", std::string(100'000, '[')));
    message claimed = claim();
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<nlohmann::json>()); }),
              make_error_code(errc::invalid_payload));
    EXPECT_TRUE(database_.run(claimed.ack()));
}

TEST_F(TransportJson, KeepsTheNulsInsideAString)
{
    const parcel sent{std::string("a\0b", 3), 7};
    database_.run(transport_.publish("g", sent));
    EXPECT_EQ(claim().payload<parcel>(), sent);
}

} // namespace
