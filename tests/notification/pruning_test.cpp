#include "notification/notification_fixture.hpp"

#include <asio/error.hpp>

#include <sqlite3.h>

#include <limits>
#include <string>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

static_assert(std::is_trivially_destructible_v<notification_options>);
static_assert(std::is_trivially_destructible_v<notification_retention>);

class NotificationPruning : public support::notification_fixture {
protected:
    /// Notifications of other programs, whose numbers have gaps: 7, 14, and so on.
    void leave(int count, std::string_view created_at = "100")
    {
        notify("0"); // makes the tables
        other_.sql("DELETE FROM _honker_notifications;"
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                   std::to_string(count) +
                   ") INSERT INTO _honker_notifications (id, channel, payload, created_at)"
                   " SELECT 7 * i, 'orders', i, " +
                   std::string(created_at) + " FROM n");
        db_.advance(1ms);
    }

    std::vector<std::string> left()
    {
        return other_.sql("SELECT payload FROM _honker_notifications ORDER BY id");
    }
};

TEST_F(NotificationPruning, ByAgeLeavesThoseThatAreAsYoungAsThat)
{
    notify("1");
    db_.advance(10s);
    notify("2");
    EXPECT_EQ(prune({.older_than = 10s}), 0U);
    EXPECT_EQ(prune({.older_than = 9s}), 1U);
    EXPECT_THAT(left(), ElementsAre("2"));
    db_.advance(1s);
    EXPECT_EQ(prune({.older_than = 0s}), 1U);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(NotificationPruning, ByNumberLeavesTheLastOfAllChannelsTogether)
{
    for (int each = 1; each <= 6; ++each) {
        notify(std::to_string(each), each % 2 == 0 ? "even" : "odd");
    }
    EXPECT_EQ(prune({.keep = 4}), 2U);
    EXPECT_EQ(prune({.keep = 4}), 0U);
    EXPECT_THAT(left(), ElementsAre("3", "4", "5", "6"));
    EXPECT_EQ(prune({.keep = 0}), 4U);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(NotificationPruning, ByNumberCountsThoseThatAreThere)
{
    leave(10);
    EXPECT_EQ(prune({.keep = 3}), 7U);
    EXPECT_THAT(left(), ElementsAre("8", "9", "10"));
}

TEST_F(NotificationPruning, ByBothLeavesWhatIsYoungAndAmongTheLast)
{
    notify_all(1, 3);
    db_.advance(10s);
    notify_all(4, 8);
    EXPECT_EQ(prune({.older_than = 5s, .keep = 4}), 4U);
    EXPECT_THAT(left(), ElementsAre("5", "6", "7", "8"));
    EXPECT_EQ(prune({.older_than = 5s, .keep = 100}), 0U);
}

TEST_F(NotificationPruning, WorksInSlicesWhateverTheGaps)
{
    for (const notification_retention& retention :
         {notification_retention{.older_than = 10s}, notification_retention{.keep = 0},
          notification_retention{.older_than = 10s, .keep = 0}}) {
        leave(1200, "50");
        const statement_counter statements(db_.handle());
        EXPECT_EQ(prune(retention), 1200U);
        // Of both the second finds nothing, in a slice of its own.
        EXPECT_EQ(statements.count("COMMIT"), retention.older_than && retention.keep ? 4U : 3U);
        EXPECT_THAT(left(), IsEmpty());
    }
}

TEST_F(NotificationPruning, WalksPastThoseThatAreKeptOnce)
{
    leave(1700);
    const statement_counter statements(db_.handle());
    EXPECT_EQ(prune({.keep = 200}), 1500U);
    EXPECT_EQ(statements.count("OFFSET"), 1U);
    EXPECT_EQ(left().size(), 200U);
}

TEST_F(NotificationPruning, ByNumberLeavesNoFewerWhenItsBatchIsUndone)
{
    leave(10);
    sqlite3_limit(db_.handle(), SQLITE_LIMIT_LENGTH, 10'000);
    const std::string large = '"' + std::string(20'000, 'x') + '"';
    auto first = db_.start(db_.database().notify("orders", "11"));
    auto pruning = db_.start(db_.database().prune_notifications({.keep = 3}));
    auto failing = db_.start(db_.database().notify("orders", large)); // undoes both once
    db_.settle();
    EXPECT_TRUE(failing.has_failed());
    EXPECT_EQ(pruning.result(), 8U);
    EXPECT_THAT(left(), ElementsAre("9", "10", "11"));
}

TEST_F(NotificationPruning, OfAFileWithoutTablesRemovesNothing)
{
    EXPECT_EQ(prune({.keep = 0}), 0U);
    EXPECT_EQ(prune({.older_than = 0s}), 0U);
}

TEST_F(NotificationPruning, TakesLengthsAndNumbersAsLargeAsOneLikes)
{
    leave(3, "-1000000000");
    EXPECT_EQ(prune({.older_than = std::chrono::seconds::max()}), 0U);
    EXPECT_EQ(prune({.older_than = std::chrono::years{100}}), 0U);
    EXPECT_EQ(prune({.keep = std::numeric_limits<std::size_t>::max()}), 0U);
    EXPECT_EQ(prune({.older_than = std::chrono::years{10}}), 3U);
}

TEST_F(NotificationPruning, IsRefusedByTheCallWithoutANumberOrAnAge)
{
    for (const notification_retention& wrong :
         {notification_retention{}, notification_retention{.older_than = -1s},
          notification_retention{.older_than = std::chrono::seconds::min(), .keep = 3}}) {
        try {
            static_cast<void>(db_.database().prune_notifications(wrong));
            ADD_FAILURE() << "accepted";
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
        }
    }
}

TEST_F(NotificationPruning, ThatIsCancelledBeforeItBeginsRemovesNothing)
{
    leave(1200);
    auto pruning = db_.start(db_.database().prune_notifications({.keep = 0}));
    pruning.cancel();
    db_.settle();
    EXPECT_EQ(pruning.error(), asio::error::operation_aborted);
    EXPECT_EQ(left().size(), 1200U);
}

TEST_F(NotificationPruning, NeverGivesANumberTwice)
{
    notify_all(1, 3);
    prune({.keep = 0});
    EXPECT_EQ(notify("4"), 4);
}

} // namespace
