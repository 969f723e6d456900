#include "rate_limit/rate_limit_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;

class FixedWindow : public support::rate_limit_fixture {};

TEST_F(FixedWindow, GivesItsPermitsInEachWindow)
{
    const rate_limit limit = windows(3, 10s);
    EXPECT_EQ(take_all(limit), 3);
    db_.advance(9999ms);
    EXPECT_EQ(take_all(limit), 0);
    db_.advance(1ms);
    EXPECT_EQ(take_all(limit), 3);
    EXPECT_THAT(window_rows(), ElementsAre("r|100|3", "r|110|3"));
}

TEST_F(FixedWindow, IsAlignedToTheEpoch)
{
    const rate_limit limit = windows(1, 7s);
    EXPECT_EQ(take_all(limit), 1);
    EXPECT_THAT(window_rows(), ElementsAre("r|98|1"));
    db_.advance(5s);
    EXPECT_EQ(take_all(limit), 1) << "98 s + 7 s";
}

TEST_F(FixedWindow, SharesACountWhereTwoWindowsBeginTogether)
{
    EXPECT_EQ(take_all(windows(2, 10s)), 2);
    EXPECT_EQ(take_all(windows(5, 20s)), 3);
    EXPECT_EQ(take_all(windows(5, 30s)), 5);
    EXPECT_THAT(window_rows(), ElementsAre("r|90|5", "r|100|5"));
}

TEST_F(FixedWindow, ComparesWhatIsCountedWithWhatEachAllows)
{
    EXPECT_EQ(take_all(windows(2, 10s)), 2);
    EXPECT_EQ(take_all(windows(1, 10s)), 0);
    EXPECT_EQ(take_all(windows(4, 10s)), 2);
}

TEST_F(FixedWindow, KeepsNamesApart)
{
    const std::string with_nul("r\0x", 3);
    for (const std::string_view name : {std::string_view("r"), std::string_view(""),
                                        std::string_view("R"), std::string_view(with_nul)}) {
        EXPECT_EQ(take_all(windows(1, 10s, name)), 1) << name;
    }
}

TEST_F(FixedWindow, HasNothingToDoWithAPacedLimitOfTheSameName)
{
    EXPECT_EQ(take_all(windows(2, 10s)), 2);
    EXPECT_EQ(take_all(paced(1, 10s)), 1);
    EXPECT_EQ(take_all(windows(3, 10s)), 1);
}

TEST_F(FixedWindow, WaitsOverTheEndOfAWindowForAllOfTheNextOne)
{
    const rate_limit limit = windows(3, 10s);
    EXPECT_EQ(take_all(limit), 3);
    const waits waiting = start_takes(limit, 7);
    db_.advance(9999ms);
    EXPECT_EQ(done(waiting), 0);
    db_.advance(1ms);
    EXPECT_EQ(done(waiting), 3);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 6);
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 7);
}

TEST_F(FixedWindow, OfAThousandPermitsServesThousandsInOneTransaction)
{
    const rate_limit limit = windows(1000, 10s);
    EXPECT_EQ(done(start_takes(limit, 1000)), 1000);
    const waits waiting = start_takes(limit, 3000);
    const support::statement_counter statements(db_.handle());
    db_.advance(10s);
    EXPECT_EQ(done(waiting), 1000);
    EXPECT_EQ(statements.count("INSERT INTO _honker_rate_limits"), 1001U) << "the last in vain";
    EXPECT_LE(statements.count("COMMIT"), 2U);
}

} // namespace
