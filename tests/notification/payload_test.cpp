#include "notification/notification_fixture.hpp"

#include <skein/json.hpp>

#include <sqlite3.h>
#include <sys/mman.h>

#include <string>

namespace mailing {

struct mail {
    std::string to;
    int tries = 0;

    friend bool operator==(const mail&, const mail&) = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(mail, to, tries)

} // namespace mailing

namespace {

using namespace std::chrono_literals;
using namespace skein;
using mailing::mail;

class NotificationPayload : public support::notification_fixture {
protected:
    /// That the call itself throws; nothing need be awaited.
    void expect_refused(errc code, std::string_view payload)
    {
        try {
            static_cast<void>(db_.database().notify("orders", payload));
            ADD_FAILURE() << "accepted: " << payload.substr(0, 50);
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), code);
        }
    }

    [[nodiscard]] std::string count()
    {
        return other_.value("SELECT count(*) FROM _honker_notifications");
    }
};

TEST_F(NotificationPayload, CarriesATypeOfTheUsers)
{
    listener inbox = listen();
    const mail sent{"ann", 7};
    db_.run(db_.database().notify("orders", sent));
    const notification note = db_.run(inbox.next());
    EXPECT_EQ(note.value<mail>(), sent);
    EXPECT_EQ(note.payload, R"({"to":"ann","tries":7})");
}

TEST_F(NotificationPayload, CarriesADocument)
{
    listener inbox = listen();
    const nlohmann::json document = {{"to", "ann"}, {"lines", {1, 2.5, nullptr, true}}};
    db_.run(db_.database().notify("orders", document));
    EXPECT_EQ(db_.run(inbox.next()).value<nlohmann::json>(), document);
}

TEST_F(NotificationPayload, CarriesATypeInATransaction)
{
    listener inbox = listen();
    const mail sent{"ben", 1};
    const auto work = [&](transaction& tx) { db_.database().notify(tx, "orders", sent); };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(db_.run(inbox.next()).value<mail>(), sent);
}

TEST_F(NotificationPayload, OfAnotherShapeIsInvalidWhenItIsRead)
{
    listener inbox = listen();
    notify(R"({"to":1})");
    const notification note = db_.run(inbox.next());
    try {
        static_cast<void>(note.value<mail>());
        ADD_FAILURE() << "decoded";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_payload);
    }
}

TEST_F(NotificationPayload, IsKeptByteForByte)
{
    listener inbox = listen();
    for (const std::string_view text :
         {std::string_view("  { \"a\" : 1.0 , \"a\" : 2 }\n"), std::string_view("\"\\u00e9\""),
          std::string_view("\"\xC3\xA9\""), std::string_view("-0.0"), std::string_view("null"),
          std::string_view("\"\\ud83d\\ude00\""), std::string_view("12345678901234567890123")}) {
        notify(text);
        EXPECT_EQ(db_.run(inbox.next()).payload, text);
    }
}

TEST_F(NotificationPayload, ThatIsNoJsonIsRefusedByTheCall)
{
    notify("1");
    for (const std::string_view text :
         {std::string_view(""), std::string_view(" "), std::string_view("hello"),
          std::string_view("{"), std::string_view("{\"a\":}"), std::string_view("[1,]"),
          std::string_view("1 2"), std::string_view("'a'"), std::string_view("NaN"),
          std::string_view("\"\xC3\""), std::string_view("\"a\0b\"", 5),
          std::string_view("\"\\ud800\""), std::string_view("\"\\udc00\\ud800\""),
          std::string_view("{\"\\ud800\":1}"), std::string_view("\"\xED\xA0\x80\"")}) {
        expect_refused(errc::invalid_payload, text);
    }
    EXPECT_EQ(count(), "1") << "something was written";
}

TEST_F(NotificationPayload, ThatIsNoJsonIsRefusedInATransactionToo)
{
    auto work = [&](transaction& tx) {
        db_.database().notify(tx, "orders", "1");
        try {
            db_.database().notify(tx, "orders", "\"\\ud800\"");
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_payload);
        }
    };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(count(), "1");
}

TEST_F(NotificationPayload, OfAValueWithoutJsonIsRefusedByTheCall)
{
    notify("1");
    const mail sent{"\xC3", 1};
    try {
        static_cast<void>(db_.database().notify("orders", sent));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_payload);
    }
    EXPECT_EQ(count(), "1");
}

TEST_F(NotificationPayload, ThatIsTooLargeIsRefusedByTheCall)
{
    notify("1");
    // Address space that costs no memory.
    constexpr std::size_t size = 1'000'000'001;
    void* const pages =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    expect_refused(errc::payload_too_large,
                   std::string_view(static_cast<const char*>(pages), size));
    munmap(pages, size);
    EXPECT_EQ(count(), "1");
}

TEST_F(NotificationPayload, ThatSqliteFindsTooLargeIsNotWritten)
{
    listener inbox = listen();
    sqlite3_limit(db_.handle(), SQLITE_LIMIT_LENGTH, 10'000);
    const std::string large = '"' + std::string(20'000, 'x') + '"';
    auto tell = db_.start(db_.database().notify("orders", large));
    auto neighbour = db_.start(db_.database().notify("orders", "1"));
    db_.settle();
    EXPECT_EQ(tell.error(), errc::payload_too_large);
    EXPECT_FALSE(neighbour.has_failed());
    EXPECT_THAT(drain(inbox), ::testing::ElementsAre("1"));
}

TEST_F(NotificationPayload, OfAnotherProgramComesAsItIs)
{
    listener inbox = listen();
    other_.sql("INSERT INTO _honker_notifications (channel, payload) VALUES ('orders', 'no json')");
    db_.advance(1ms);
    const notification note = db_.run(inbox.next());
    EXPECT_EQ(note.payload, "no json");
    EXPECT_THROW(static_cast<void>(note.value<nlohmann::json>()), error);
}

TEST_F(NotificationPayload, OfATriggerThatIgnoresItIsToldOf)
{
    notify("1");
    other_.sql("CREATE TRIGGER t BEFORE INSERT ON _honker_notifications"
               " BEGIN SELECT RAISE(IGNORE); END");
    auto tell = db_.start(db_.database().notify("orders", "2"));
    db_.settle();
    EXPECT_EQ(tell.error(), errc::storage_failure);
}

} // namespace
