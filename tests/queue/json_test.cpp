#include "queue/queue_fixture.hpp"

#include <skein/json.hpp>

namespace mailing {

struct email {
    std::string to;
    int tries = 0;

    friend bool operator==(const email&, const email&) = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(email, to, tries)

} // namespace mailing

namespace {

using namespace std::chrono_literals;
using namespace skein;
using mailing::email;

class QueueJson : public support::queue_fixture {
protected:
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
};

TEST_F(QueueJson, CarriesATypeOfTheUsers)
{
    const email sent{"ann", 7};
    db_.run(queue_.enqueue(sent, {.priority = 5}));
    const job claimed = claim();
    EXPECT_EQ(claimed.payload<email>(), sent);
    EXPECT_EQ(claimed.payload(), R"({"to":"ann","tries":7})");
}

TEST_F(QueueJson, CarriesADocument)
{
    const nlohmann::json document = {{"to", "ann"}, {"lines", {1, 2.5, nullptr, true}}};
    db_.run(queue_.enqueue(document));
    EXPECT_EQ(claim().payload<nlohmann::json>(), document);
}

TEST_F(QueueJson, CarriesATypeInATransaction)
{
    const email sent{"ben", 1};
    const auto enqueue = [&](transaction& tx) { queue_.enqueue(tx, sent, {.delay = 0s}); };
    db_.run(db_.database().transaction(enqueue));
    EXPECT_EQ(claim().payload<email>(), sent);
}

TEST_F(QueueJson, DoesNotTakeTextForADocument)
{
    const std::string text = R"({"to":"ann"})";
    db_.run(queue_.enqueue(text));
    EXPECT_EQ(claim().payload(), text);
}

TEST_F(QueueJson, APayloadOfAnotherShapeIsInvalidAndTheJobCanStillBeFinished)
{
    const std::int64_t id = enqueue(R"({"to":1})");
    job claimed = claim();
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<email>()); }), errc::invalid_payload);
    EXPECT_TRUE(db_.run(claimed.fail("not an email")));
    EXPECT_EQ(state_of(id), "dead: not an email");
}

TEST_F(QueueJson, APayloadThatAnotherProgramWroteAndIsNoJsonIsInvalid)
{
    other_.sql("INSERT INTO _honker_live (queue, payload, run_at) VALUES ('q', 'hello', 0)");
    job claimed = claim();
    EXPECT_EQ(claimed.payload(), "hello");
    EXPECT_EQ(code_of([&] { static_cast<void>(claimed.payload<nlohmann::json>()); }),
              errc::invalid_payload);
    EXPECT_TRUE(db_.run(claimed.ack()));
}

TEST_F(QueueJson, TextThatIsNotUtf8IsRefusedAndNothingIsEnqueued)
{
    const email sent{"\xff", 1};
    EXPECT_EQ(code_of([&] { static_cast<void>(queue_.enqueue(sent)); }), errc::invalid_payload);
    EXPECT_FALSE(db_.run(queue_.try_claim()));
}

} // namespace
