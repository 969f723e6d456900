#include "queue/dead_letter_fixture.hpp"

#include <functional>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeadLetterRemoval : public support::dead_letter_fixture {
protected:
    void expect_refused(const std::function<void()>& call, const char* part)
    {
        try {
            call();
            ADD_FAILURE() << "accepted; expected a word of " << part;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_argument);
            EXPECT_THAT(refused.what(), HasSubstr(part));
        }
    }
};

TEST_F(DeadLetterRemoval, ArePurgedByAgeAndByTheWholeError)
{
    die("timeout");
    const std::int64_t rejected = die("rejected");
    db_.advance(10s);
    const std::int64_t late = die("timeout");
    EXPECT_EQ(db_.run(letters_.purge({.last_error = "time"})), 0U);
    EXPECT_EQ(db_.run(letters_.purge({.died_before = at(110), .last_error = "timeout"})), 1U);
    EXPECT_THAT(left(), ElementsAre(rejected, late));
    EXPECT_EQ(db_.run(letters_.purge({.died_before = at(100)})), 0U);
    EXPECT_EQ(db_.run(letters_.purge({.died_before = at(110)})), 1U);
    EXPECT_EQ(db_.run(letters_.purge_all()), 1U);
    EXPECT_THAT(left(), IsEmpty());
    EXPECT_EQ(db_.run(letters_.purge_all()), 0U);
}

TEST_F(DeadLetterRemoval, WithoutAnErrorAreMeantByNoErrorText)
{
    write_letters(1, "NULL");
    EXPECT_EQ(db_.run(letters_.purge({.last_error = ""})), 0U);
    die("");
    EXPECT_EQ(db_.run(letters_.purge({.last_error = ""})), 1U);
    EXPECT_EQ(db_.run(letters_.purge_all()), 1U);
}

TEST_F(DeadLetterRemoval, AreNotAllMeantByAFilterThatWasForgotten)
{
    die();
    expect_refused([&] { static_cast<void>(letters_.purge({})); }, "purge_all");
    expect_refused([&] { static_cast<void>(letters_.redrive_many({})); }, "redrive_all");
    expect_refused([&] { static_cast<void>(letters_.prune({})); }, "older_than");
    expect_refused([&] { static_cast<void>(letters_.prune({.older_than = -1s})); }, "older_than");
    expect_refused([&] { static_cast<void>(letters_.prune({.older_than = -1s, .keep = 1})); },
                   "-1 s");
    expect_refused([&] { static_cast<void>(letters_.list({.limit = 0})); }, "limit");
    EXPECT_EQ(left().size(), 1U);
}

TEST_F(DeadLetterRemoval, ArePrunedByAge)
{
    die();
    db_.advance(10s);
    const std::int64_t late = die();
    EXPECT_EQ(db_.run(letters_.prune({.older_than = std::chrono::seconds::max()})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.older_than = std::chrono::hours(24 * 365 * 200)})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 10s})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 9s})), 1U);
    EXPECT_THAT(left(), ElementsAre(late));
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 0s})), 0U) << "it died this very second";
    db_.advance(1s);
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 0s})), 1U);
}

TEST_F(DeadLetterRemoval, ArePrunedByNumberSoThatTheNewestStay)
{
    ids_type all;
    for (int each = 0; each < 6; ++each) {
        all.push_back(die());
        db_.advance(each % 2 == 0 ? 0s : 1s);
    }
    EXPECT_EQ(db_.run(letters_.prune({.keep = static_cast<std::size_t>(-1)})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.keep = 7})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.keep = 6})), 0U);
    EXPECT_EQ(db_.run(letters_.prune({.keep = 3})), 3U);
    EXPECT_THAT(left(), ElementsAre(all[3], all[4], all[5]));
    EXPECT_EQ(db_.run(letters_.prune({.keep = 0})), 3U);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(DeadLetterRemoval, ArePrunedByWhicheverLimitIsReached)
{
    ids_type all;
    for (int each = 0; each < 6; ++each) {
        all.push_back(die());
        db_.advance(1s);
    }
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 1h, .keep = 5})), 1U);
    EXPECT_EQ(db_.run(letters_.prune({.older_than = 3s, .keep = 5})), 2U);
    EXPECT_THAT(left(), ElementsAre(all[3], all[4], all[5]));
}

} // namespace
