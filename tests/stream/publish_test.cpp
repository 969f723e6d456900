#include "stream/stream_fixture.hpp"

#include <skein/json.hpp>

namespace trading {

struct order {
    int number = 0;

    friend bool operator==(const order&, const order&) = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order, number)

} // namespace trading

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::plain_connection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trading::order;

class StreamPublishing : public support::stream_fixture {
protected:
    std::vector<stream_event> read(std::int64_t offset = 0, std::size_t most = 100)
    {
        return db_.run(stream_.read_since(offset, most));
    }
};

TEST_F(StreamPublishing, KeepsEventsByteForByteInTheirOrder)
{
    const std::string text = " [1,  2]\n";
    EXPECT_EQ(db_.run(stream_.publish("customer-3", text)), 1);
    db_.advance(5s);
    EXPECT_EQ(db_.run(stream_.publish("2")), 2);
    EXPECT_EQ(db_.run(stream_.publish("", "3")), 3);
    EXPECT_EQ(db_.run(stream_.publish(std::nullopt, "4")), 4);
    const std::vector<stream_event> events = read();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[0].offset, 1);
    EXPECT_EQ(events[0].key, "customer-3");
    EXPECT_EQ(events[0].payload, text);
    EXPECT_EQ(events[0].created_at.time_since_epoch(), 100s);
    EXPECT_EQ(events[1].key, std::nullopt);
    EXPECT_EQ(events[1].created_at.time_since_epoch(), 105s);
    EXPECT_EQ(events[2].key, "") << "an empty key is one";
    EXPECT_EQ(events[3].key, std::nullopt);
}

TEST_F(StreamPublishing, TakesKeysOfAnyKindOfText)
{
    const std::string text = "text";
    const std::optional<std::string_view> view = "view";
    const std::optional<std::string> owned = "owned";
    db_.run(stream_.publish(text, "1"));
    db_.run(stream_.publish(view, "1"));
    db_.run(stream_.publish(owned, "1"));
    db_.run(stream_.publish(std::string(70'000, 'k'), "1"));
    const std::vector<stream_event> events = read();
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[0].key, "text");
    EXPECT_EQ(events[1].key, "view");
    EXPECT_EQ(events[2].key, "owned");
    EXPECT_EQ(events[3].key, std::string(70'000, 'k'));
}

TEST_F(StreamPublishing, CarriesTypesOfTheUsers)
{
    const order one{7};
    db_.run(stream_.publish(one));
    db_.run(stream_.publish("key", one));
    db_.run(stream_.publish(order{8})); // not inside a co_await
    const auto publish = [&](transaction& tx) {
        stream_.publish(tx, one);
        stream_.publish(tx, "key", one);
    };
    db_.run(db_.database().transaction(publish));
    const std::vector<stream_event> events = read();
    ASSERT_EQ(events.size(), 5U);
    EXPECT_EQ(events[0].value<order>(), one);
    EXPECT_EQ(events[0].payload, R"({"number":7})");
    EXPECT_EQ(events[1].key, "key");
    EXPECT_EQ(events[2].value<order>().number, 8);
    EXPECT_EQ(events[4].key, "key");
    EXPECT_EQ(events[4].value<order>(), one);
}

TEST_F(StreamPublishing, GivesTheTopicsOneSequenceOfOffsets)
{
    const stream other = db_.database().stream("payments");
    EXPECT_EQ(publish(), 1);
    EXPECT_EQ(db_.run(other.publish("1")), 2);
    EXPECT_EQ(publish(), 3);
    EXPECT_THAT(left(), ElementsAre(1, 3));
    EXPECT_EQ(db_.run(stream_.first_offset()), 1);
    EXPECT_EQ(db_.run(stream_.last_offset()), 3);
    EXPECT_EQ(db_.run(other.first_offset()), 2);
}

TEST_F(StreamPublishing, OfManyIsOneCommit)
{
    const std::vector<new_event> events = {{"a", "1"}, {.payload = "2"}, {"c", "3"}};
    publish();
    const support::statement_counter statements(db_.handle());
    EXPECT_THAT(db_.run(stream_.publish_many(events)), ElementsAre(2, 3, 4));
    EXPECT_EQ(statements.count("COMMIT"), 1U);
    EXPECT_EQ(read(1)[2].key, "c");
    EXPECT_EQ(read(1)[1].key, std::nullopt);
    EXPECT_THAT(db_.run(stream_.publish_many({})), IsEmpty());
}

TEST_F(StreamPublishing, IsReadBehindAnOffsetUpToANumber)
{
    publish_many(5);
    EXPECT_THAT(offsets_of(read(2)), ElementsAre(3, 4, 5));
    EXPECT_THAT(offsets_of(read(2, 2)), ElementsAre(3, 4));
    EXPECT_THAT(offsets_of(read(-7, 1)), ElementsAre(1));
    EXPECT_THAT(read(5), IsEmpty());
}

TEST_F(StreamPublishing, IsNotNeededToLook)
{
    EXPECT_THAT(read(), IsEmpty());
    EXPECT_EQ(db_.run(stream_.first_offset()), 0);
    EXPECT_EQ(db_.run(stream_.last_offset()), 0);
    EXPECT_THAT(db_.run(stream_.consumers()), IsEmpty());
    EXPECT_THAT(plain_connection(db_.path()).sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

TEST_F(StreamPublishing, InATransactionHappensWithItOrNotAtAll)
{
    publish();
    const std::vector<new_event> events = {{"a", "1"}, {"b", "2"}};
    const auto publish = [&](transaction& tx) {
        EXPECT_EQ(stream_.publish(tx, "7"), 2);
        EXPECT_EQ(stream_.publish(tx, "key", "8"), 3);
        EXPECT_THAT(stream_.publish_many(tx, events), ElementsAre(4, 5));
        return offsets_of(stream_.read_since(tx, 1, 3));
    };
    const auto fail = [&](transaction& tx) {
        publish(tx);
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(fail)), std::runtime_error);
    EXPECT_THAT(left(), ElementsAre(1));
    EXPECT_THAT(db_.run(db_.database().transaction(publish)), ElementsAre(2, 3, 4));
    EXPECT_THAT(left(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(StreamPublishing, RefusesWhatIsNoJsonAndWritesNothing)
{
    const auto is_refused = [&](std::string_view payload) {
        return code_of([&] { static_cast<void>(stream_.publish("key", payload)); }) ==
               errc::invalid_payload;
    };
    for (const char* text : {"", "hello", "{", R"("\ud800")", "1e999", "[1,]", "\"\xff\""}) {
        EXPECT_TRUE(is_refused(text)) << text;
    }
    const std::vector<new_event> events = {{"a", "1"}, {"b", "no"}};
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.publish_many(events)); }),
              errc::invalid_payload);
    const auto publish = [&](transaction& tx) { stream_.publish_many(tx, events); };
    EXPECT_THROW(db_.run(db_.database().transaction(publish)), error);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(StreamPublishing, RefusesWhatNoRowHasRoomFor)
{
    const std::string huge(1'000'000'000, '1');
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.publish(huge)); }), errc::payload_too_large);
    EXPECT_EQ(code_of([&] { static_cast<void>(stream_.publish(huge, "1")); }),
              errc::payload_too_large)
        << "as a key";
}

TEST_F(StreamPublishing, RefusesTransactionsOfAnotherDatabase)
{
    manual_database other;
    consumer mine = consume();
    const auto misuse = [&](transaction& tx) {
        EXPECT_EQ(code_of([&] { stream_.publish(tx, "1"); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { static_cast<void>(stream_.read_since(tx, 0)); }),
                  errc::invalid_argument);
        EXPECT_EQ(code_of([&] { mine.save(tx, 1); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { mine.save(tx); }), errc::invalid_argument);
    };
    other.run(other.database().transaction(misuse));
    EXPECT_EQ(saved(), 0);
}

TEST_F(StreamPublishing, RefusesToReadNoneOrTooMany)
{
    for (const std::size_t most : {std::size_t{0}, std::size_t{1001}}) {
        EXPECT_EQ(code_of([&] { static_cast<void>(stream_.read_since(0, most)); }),
                  errc::invalid_argument);
    }
}

TEST_F(StreamPublishing, EndsWithTheDatabase)
{
    db_.run(db_.database().close());
    auto publishing = db_.start(stream_.publish("1"));
    db_.settle();
    EXPECT_EQ(publishing.error(), errc::closed);
}

TEST_F(StreamPublishing, IsEqualOnOneTopicOfOneDatabase)
{
    manual_database other;
    EXPECT_EQ(stream_, db_.database().stream("orders"));
    EXPECT_NE(stream_, db_.database().stream("payments"));
    EXPECT_NE(stream_, other.database().stream("orders"));
    EXPECT_EQ(stream_.topic(), "orders");
}

TEST_F(StreamPublishing, FailsClearlyWithoutTablesThatAreSomebodyElses)
{
    const stream owned = db_.database().stream("orders", {.create_schema = false});
    for (int verb = 0; verb < 4; ++verb) {
        const auto call = [&]() -> void {
            switch (verb) {
            case 0:
                static_cast<void>(db_.run(owned.publish("1")));
                break;
            case 1:
                static_cast<void>(db_.run(owned.read_since(0)));
                break;
            case 2:
                static_cast<void>(db_.run(owned.consumer("c")));
                break;
            default:
                static_cast<void>(db_.run(owned.trim({.keep = 1})));
            }
        };
        try {
            call();
            ADD_FAILURE() << verb;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(errc::storage_failure));
            EXPECT_THAT(refused.what(), HasSubstr("no such table: _honker_stream"));
        }
    }
    EXPECT_THAT(plain_connection(db_.path()).sql("SELECT name FROM sqlite_schema"), IsEmpty());
}

TEST_F(StreamPublishing, WorksOnTablesOfTheFormatAlone)
{
    const plain_connection other(db_.path());
    for (const std::string& each : schema::streams()) {
        if (each.find("_skein_") == std::string::npos) {
            other.sql(each);
        }
    }
    const auto before = other.sql("SELECT name FROM sqlite_schema");
    const stream owned = db_.database().stream("orders", {.create_schema = false});
    EXPECT_EQ(db_.run(owned.publish("1")), 1);
    EXPECT_EQ(db_.run(owned.publish("2")), 2);
    consumer who = db_.run(owned.consumer("c", {.saving = consumer_saving::automatically}));
    EXPECT_EQ(db_.run(owned.trim({.keep = 1})), 1U);
    EXPECT_THAT(drain(who), ElementsAre(2)) << "nobody knows that it has lagged";
    EXPECT_EQ(db_.run(owned.consumers()), (std::vector<stream_consumer>{{"c", 2}}));
    EXPECT_EQ(other.sql("SELECT name FROM sqlite_schema"), before);
    consumer another = consume("another");
    EXPECT_GT(other.sql("SELECT name FROM sqlite_schema").size(), before.size());
    EXPECT_THAT(drain(another), ElementsAre(2));
}

} // namespace
