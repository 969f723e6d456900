#include "support/plain_connection.hpp"
#include "transport/transports.hpp"

#include <skein/error.hpp>
#include <skein/transport_inspection.hpp>

#include <chrono>

namespace skein::conformance {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

clock::wall_time at(double seconds)
{
    return clock::wall_time(std::chrono::round<clock::wall_time::duration>(duration(seconds)));
}

template <class Harness>
class TransportInspection : public transport_suite<Harness> {
protected:
    transport_counts counts() { return run(this->queue.transport().counts()); }

    std::vector<transport_group> groups(const groups_options& options = {})
    {
        return run(this->queue.transport().groups(options));
    }

    /// The names of all groups, read in pages.
    std::vector<std::string> names(std::size_t page_size)
    {
        return run(read_names(this->queue.transport(), page_size));
    }

    static asio::awaitable<std::vector<std::string>> read_names(skein::transport transport,
                                                                std::size_t page_size)
    {
        std::vector<std::string> all;
        std::optional<std::string> last;
        do {
            const auto page = co_await transport.groups({.limit = page_size, .after = last});
            EXPECT_LE(page.size(), page_size);
            for (const transport_group& each : page) {
                all.push_back(each.name);
            }
            last = page.empty() ? std::nullopt : std::optional(page.back().name);
        } while (last && all.size() < 100);
        co_return all;
    }

    void sql(std::string_view statements)
    {
        support::plain_connection(this->queue.database().path()).sql(statements);
    }

    template <class Result>
    Result run(asio::awaitable<Result> look)
    {
        return this->queue.database().run(std::move(look));
    }

    /// One group in every state, and messages behind two of the heads.
    void fill()
    {
        this->queue.publish("leased", "l1", 3, "key");
        this->queue.publish("leased", "l2");
        this->queue.publish("parked", "p1");
        this->queue.publish("parked", "p2");
        this->queue.publish("parked", "p3");
        this->queue.publish("free", "f1");
        this->queue.publish("free", "f2");
        this->queue.claim(by_worker("me", 30));
        EXPECT_TRUE(this->queue.nack(this->queue.claim().value(), 50));
    }
};

TYPED_TEST_SUITE(TransportInspection, transports, transport_names);

TYPED_TEST(TransportInspection, CountsNothingInAnEmptyTransport)
{
    const transport_counts counts = this->counts();
    EXPECT_EQ(counts.messages + counts.groups + counts.waiting + counts.in_flight + counts.parked +
                  counts.orphans + counts.ghosts,
              0U);
    EXPECT_FALSE(counts.oldest_waiting);
    EXPECT_THAT(this->groups(), IsEmpty());
}

TYPED_TEST(TransportInspection, CountsMessagesByTheirState)
{
    this->fill();
    const transport_counts counts = this->counts();
    EXPECT_EQ(counts.messages, 7U);
    EXPECT_EQ(counts.groups, 3U);
    EXPECT_EQ(counts.waiting, 5U);
    EXPECT_EQ(counts.in_flight, 1U);
    EXPECT_EQ(counts.parked, 1U);
    EXPECT_EQ(counts.orphans, 0U);
    EXPECT_EQ(counts.ghosts, 0U);
    ASSERT_TRUE(counts.oldest_waiting);
    EXPECT_EQ(counts.oldest_waiting->seq, 2) << "the one behind the first, which is leased";
    EXPECT_EQ(counts.oldest_waiting->group, "leased");
}

TYPED_TEST(TransportInspection, CountsWhatHasEndedAsWaiting)
{
    this->fill();
    this->queue.set_time(130);
    EXPECT_EQ(this->counts().in_flight, 1U) << "at its very end a lease still holds";
    this->queue.set_time(130.001);
    EXPECT_EQ(this->counts().in_flight, 0U);
    EXPECT_EQ(this->counts().waiting, 6U);
    EXPECT_EQ(this->counts().oldest_waiting->seq, 1);
    this->queue.set_time(150);
    EXPECT_EQ(this->counts().parked, 1U);
    this->queue.set_time(150.001);
    EXPECT_EQ(this->counts().parked, 0U);
    EXPECT_EQ(this->counts().waiting, 7U);
}

TYPED_TEST(TransportInspection, CountsOrphansAndGhosts)
{
    this->fill();
    this->sql("INSERT INTO harel_transport_messages (group_id, event) VALUES ('o', '1'),"
              " ('o', '2'), ('q', '1');"
              "INSERT INTO harel_transport_groups (group_id) VALUES ('ghost')");
    const transport_counts counts = this->counts();
    EXPECT_EQ(counts.orphans, 2U);
    EXPECT_EQ(counts.ghosts, 1U);
    EXPECT_EQ(counts.groups, 5U);
    EXPECT_EQ(counts.messages, 10U);
    EXPECT_EQ(counts.waiting, 8U);
}

TYPED_TEST(TransportInspection, TellsEveryGroupByName)
{
    this->fill();
    const auto groups = this->groups();
    ASSERT_EQ(groups.size(), 3U);

    EXPECT_EQ(groups[0].name, "free");
    EXPECT_EQ(groups[0].messages, 2U);
    EXPECT_EQ(groups[0].priority, 0);
    EXPECT_FALSE(groups[0].routing_key);
    EXPECT_FALSE(groups[0].last_claimed_at);
    EXPECT_EQ(groups[0].state, group_state::free);
    EXPECT_FALSE(groups[0].until);
    EXPECT_EQ(groups[0].worker, "");

    EXPECT_EQ(groups[1].name, "leased");
    EXPECT_EQ(groups[1].messages, 2U);
    EXPECT_EQ(groups[1].priority, 3);
    EXPECT_EQ(groups[1].routing_key, "key");
    EXPECT_EQ(groups[1].last_claimed_at, at(100));
    EXPECT_EQ(groups[1].state, group_state::in_flight);
    EXPECT_EQ(groups[1].until, at(130));
    EXPECT_EQ(groups[1].worker, "me");

    EXPECT_EQ(groups[2].name, "parked");
    EXPECT_EQ(groups[2].messages, 3U);
    EXPECT_TRUE(groups[2].last_claimed_at);
    EXPECT_EQ(groups[2].state, group_state::parked);
    EXPECT_EQ(groups[2].until, at(150));
    EXPECT_EQ(groups[2].worker, "");
}

TYPED_TEST(TransportInspection, TellsAGroupAsFreeOnceItsLeaseHasEnded)
{
    this->fill();
    this->queue.set_time(130);
    EXPECT_EQ(this->groups()[1].state, group_state::in_flight);
    this->queue.set_time(130.001);
    EXPECT_EQ(this->groups()[1].state, group_state::free);
    EXPECT_FALSE(this->groups()[1].until);
    EXPECT_EQ(this->groups()[1].worker, "");
    EXPECT_EQ(this->groups()[1].last_claimed_at, at(100));
}

TYPED_TEST(TransportInspection, TellsAGhostAsAGroupWithoutMessages)
{
    this->queue.publish("g", "g1");
    this->sql("INSERT INTO harel_transport_groups (group_id) VALUES ('ghost')");
    const auto groups = this->groups();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[1].name, "ghost");
    EXPECT_EQ(groups[1].messages, 0U);
    EXPECT_EQ(groups[1].state, group_state::free);
}

TYPED_TEST(TransportInspection, TellsAWorkerWhateverItIsCalled)
{
    const std::string other_token(32, '0');
    for (const std::string& name : {std::string("a#b"), std::string("#"), "w#" + other_token}) {
        this->queue.publish("g", "m");
        const auto claimed = this->queue.claim(by_worker(name)).value();
        EXPECT_EQ(this->groups()[0].worker, name);
        EXPECT_TRUE(this->queue.ack(claimed));
    }
    this->queue.publish("g", "m");
    for (const std::string& theirs :
         {std::string("host-1"), std::string("host#7"), "w#" + std::string(32, 'x')}) {
        this->sql("UPDATE harel_transport_messages SET lock_expiry = 200, locked_by = '" + theirs +
                  "'");
        EXPECT_EQ(this->groups()[0].worker, theirs);
    }
}

TYPED_TEST(TransportInspection, TellsGroupsInPages)
{
    for (const char* name : {"b", "", "d", "a", "C", "\xc3\xa4"}) {
        this->queue.publish(name, "m");
    }
    const auto all = ElementsAre("", "C", "a", "b", "d", "\xc3\xa4");
    for (std::size_t page_size = 1; page_size < 8; ++page_size) {
        EXPECT_THAT(this->names(page_size), all) << page_size;
    }
    EXPECT_EQ(this->groups({.after = "aa"}).front().name, "b") << "a name that is not there";
    EXPECT_EQ(this->groups({.limit = static_cast<std::size_t>(-1)}).size(), 6U);
}

TYPED_TEST(TransportInspection, TellsAHundredGroupsUnlessAskedForMore)
{
    this->queue.publish("", "m");
    this->sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 150)"
              " INSERT INTO harel_transport_messages (group_id, event) SELECT i, 'm' FROM n;"
              "INSERT INTO harel_transport_groups (group_id) SELECT group_id FROM"
              " harel_transport_messages WHERE group_id <> ''");
    EXPECT_EQ(this->groups().size(), 100U);
    EXPECT_EQ(this->groups({.limit = 1000}).size(), 151U);
}

TYPED_TEST(TransportInspection, RefusesALimitOfZero)
{
    try {
        static_cast<void>(this->queue.transport().groups({.limit = 0}));
        ADD_FAILURE() << "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), make_error_code(errc::invalid_argument));
        EXPECT_THAT(refused.what(), ::testing::HasSubstr("limit"));
    }
}

TYPED_TEST(TransportInspection, ChangesNothing)
{
    this->fill();
    const support::plain_connection file(this->queue.database().path());
    const std::string before = file.value("PRAGMA data_version");
    this->queue.set_time(200);
    this->counts();
    this->groups();
    EXPECT_EQ(file.value("PRAGMA data_version"), before);
}

TYPED_TEST(TransportInspection, KeepsNoWriterWaitingAndWaitsForNone)
{
    this->fill();
    const support::plain_connection writer(this->queue.database().path());
    writer.sql("BEGIN IMMEDIATE;"
               "INSERT INTO harel_transport_messages (group_id, event) VALUES ('free', 'f3')");
    EXPECT_EQ(this->counts().messages, 7U);
    writer.sql("COMMIT");
    EXPECT_EQ(this->counts().messages, 8U);
}

} // namespace

} // namespace skein::conformance
