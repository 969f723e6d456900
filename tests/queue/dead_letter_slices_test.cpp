#include "queue/dead_letter_fixture.hpp"
#include "support/statement_counter.hpp"

#include <asio/error.hpp>
#include <asio/io_context.hpp>

namespace {

using namespace std::chrono_literals;
using namespace skein;

class DeadLetterSlices : public support::dead_letter_fixture {
protected:
    /// Runs until so many batches are committed, no further.
    void run_until_commits(const support::statement_counter& statements, std::size_t count)
    {
        support::run_until(db_.context(), [&] { return statements.count("COMMIT") == count; });
    }
};

TEST_F(DeadLetterSlices, ArePurgedInSlicesThatOthersGetBetween)
{
    write_letters(2300);
    const support::plain_connection between(db_.path());
    between.sql("PRAGMA busy_timeout = 0");
    support::statement_counter statements(db_.handle());
    int written = 0;
    statements.when_finished("COMMIT", [&] {
        between.sql("INSERT INTO _honker_dead (queue, payload, died_at) VALUES ('q', '1', 200)");
        ++written;
    });
    EXPECT_EQ(db_.run(letters_.purge_all()), 2300U);
    EXPECT_EQ(statements.count("COMMIT"), 5U);
    EXPECT_EQ(written, 5);
    EXPECT_EQ(left().size(), 5U) << "what has died meanwhile";
}

TEST_F(DeadLetterSlices, AreWalkedPastInSlicesToo)
{
    write_letters(2300, "iif(i % 100 = 7, 'rare', 'e')");
    support::statement_counter statements(db_.handle());
    EXPECT_EQ(db_.run(letters_.purge({.last_error = "rare"})), 23U);
    EXPECT_EQ(statements.count("COMMIT"), 5U);
    EXPECT_EQ(left().size(), 2277U);
}

TEST_F(DeadLetterSlices, AreRedrivenInSlicesInTheOrderOfTheirDeaths)
{
    write_letters(1200);
    const ids_type all = left();
    support::statement_counter statements(db_.handle());
    const auto made = db_.run(letters_.redrive_all());
    EXPECT_EQ(statements.count("COMMIT"), 3U);
    ASSERT_EQ(made.size(), 1200U);
    for (std::size_t each = 0; each != made.size(); ++each) {
        ASSERT_EQ(made[each].dead_id, all[each]);
        ASSERT_TRUE(each == 0 || made[each].job_id > made[each - 1].job_id);
    }
}

TEST_F(DeadLetterSlices, ThatDieAgainAreNotRedrivenForEver)
{
    write_letters(1200);
    support::statement_counter statements(db_.handle());
    // Another program fails whatever it finds at once.
    statements.when_finished("COMMIT", [&] {
        other_.sql("INSERT INTO _honker_dead (id, queue, payload, max_attempts, died_at)"
                   " SELECT id, queue, payload, max_attempts, 100 FROM _honker_live;"
                   "DELETE FROM _honker_live");
    });
    EXPECT_EQ(db_.run(letters_.redrive_all()).size(), 1200U);
    EXPECT_EQ(left().size(), 1200U);
    EXPECT_EQ(db_.run(letters_.redrive_all()).size(), 1200U) << "all died in this second";
    EXPECT_EQ(left().size(), 1200U);
}

TEST_F(DeadLetterSlices, ArePrunedInSlices)
{
    write_letters(2300);
    const ids_type all = left();
    support::statement_counter statements(db_.handle());
    EXPECT_EQ(db_.run(letters_.prune({.keep = 800})), 1500U);
    EXPECT_EQ(statements.count("COMMIT"), 3U);
    EXPECT_EQ(left(), ids_type(all.begin() + 1500, all.end()));
}

TEST_F(DeadLetterSlices, StayRemovedWhenTheRestIsCancelledBetweenTwoSlices)
{
    write_letters(2300);
    const support::statement_counter statements(db_.handle());
    auto purging = db_.start(letters_.purge_all());
    run_until_commits(statements, 2);
    purging.cancel();
    db_.settle();
    EXPECT_EQ(purging.error(), asio::error::operation_aborted);
    EXPECT_EQ(left().size(), 1300U);
    EXPECT_EQ(db_.run(letters_.purge_all()), 1300U);
}

TEST_F(DeadLetterSlices, StayRedrivenWhenTheDatabaseIsClosedBetweenTwoSlices)
{
    write_letters(2300);
    std::optional<support::statement_counter> statements(std::in_place, db_.handle());
    auto redriving = db_.start(letters_.redrive_all());
    run_until_commits(*statements, 1);
    statements.reset();
    db_.run(db_.database().close());
    EXPECT_EQ(redriving.error(), errc::closed);
    // A slice that came before the closing is done, too.
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "1000");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead"), "1300");
}

TEST_F(DeadLetterSlices, AreUntouchedWhenAllIsCancelledBeforeTheFirstSlice)
{
    write_letters(3);
    auto purging = db_.start(letters_.purge_all());
    auto redriving = db_.start(letters_.redrive_all());
    auto one = db_.start(letters_.redrive(1));
    purging.cancel();
    redriving.cancel();
    one.cancel();
    db_.settle();
    EXPECT_EQ(purging.error(), asio::error::operation_aborted);
    EXPECT_EQ(redriving.error(), asio::error::operation_aborted);
    EXPECT_EQ(one.error(), asio::error::operation_aborted);
    EXPECT_EQ(left().size(), 3U);
}

} // namespace
