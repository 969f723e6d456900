#include "store/error.hpp"
#include "store/family_file.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/lock/named_locks.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();

class NamedLocks : public testing::Test {
protected:
    bool acquire(std::string_view name, std::string_view owner, std::int64_t ttl = 10,
                 std::int64_t time = now)
    {
        const lock_attempt attempt =
            tables_.write([&] { return locks_.acquire(name, owner, ttl, time); });
        if (attempt.is_held) {
            EXPECT_EQ(attempt.fence, fence(name));
        }
        return attempt.is_held;
    }

    bool renew(std::string_view name, std::string_view owner, std::int64_t ttl,
               std::int64_t time = now)
    {
        return tables_.write([&] { return locks_.renew(name, owner, ttl, time); });
    }

    bool release(std::string_view name, std::string_view owner)
    {
        return tables_.write([&] { return locks_.release(name, owner); });
    }

    /// The fence of the lock that is there.
    std::int64_t fence(std::string_view name) { return locks_.find(name).value().fence.value(); }

    /// Expects that a change of the file gives the lock a higher fence than any was before.
    void expect_next_fence(const std::string& sql, const std::string& name = "l")
    {
        file().sql(sql);
        const std::int64_t next = fence(name);
        EXPECT_GT(next, highest_fence_) << sql;
        highest_fence_ = next;
    }

    [[nodiscard]] const skein::support::plain_connection& file() const { return tables_.file(); }

    skein::support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", lock_tables()};
    named_locks locks_{tables_.connection(), family_shape::complete};
    std::int64_t highest_fence_ = 0;
};

TEST_F(NamedLocks, AreHeldByOneOwnerAtATime)
{
    EXPECT_TRUE(acquire("l", "a"));
    EXPECT_FALSE(acquire("l", "b"));
    EXPECT_TRUE(acquire("another", "b"));
    EXPECT_EQ(locks_.find("l").value().owner, "a");
    EXPECT_EQ(locks_.find("l").value().expires_at, now + 10);
    EXPECT_FALSE(locks_.find("none"));
}

TEST_F(NamedLocks, AreNotHeldLongerByTakingThemAgain)
{
    EXPECT_TRUE(acquire("l", "a", 10));
    const std::int64_t first = fence("l");
    EXPECT_TRUE(acquire("l", "a", 50, now + 5));
    EXPECT_EQ(locks_.find("l").value().expires_at, now + 10);
    EXPECT_EQ(fence("l"), first);
}

TEST_F(NamedLocks, AreFreeFromTheSecondOfTheirEnd)
{
    acquire("l", "a", 10);
    acquire("another", "a", 10);
    EXPECT_FALSE(acquire("l", "b", 10, now + 9));
    EXPECT_TRUE(acquire("l", "b", 10, now + 10));
    EXPECT_EQ(locks_.find("l").value().expires_at, now + 20);
    EXPECT_EQ(locks_.find("another").value().owner, "a");
}

TEST_F(NamedLocks, TellWhoAsksInVainWhenToComeAgain)
{
    acquire("l", "a", 10);
    const lock_attempt attempt =
        tables_.write([&] { return locks_.acquire("l", "b", 10, now + 3); });
    EXPECT_FALSE(attempt.is_held);
    EXPECT_EQ(attempt.expires_at, now + 10);
    EXPECT_EQ(attempt.fence, fence("l"));
}

TEST_F(NamedLocks, MayHaveExpiredWhenTheyAreTaken)
{
    EXPECT_TRUE(acquire("l", "a", 0));
    EXPECT_EQ(locks_.find("l").value().expires_at, now);
    EXPECT_TRUE(acquire("l", "b", -5));
    EXPECT_EQ(locks_.find("l").value().expires_at, now - 5);
    EXPECT_TRUE(acquire("l", "c", 1));
}

TEST_F(NamedLocks, LastForEverWhenTheTimeIsLongEnough)
{
    EXPECT_TRUE(acquire("l", "a", most_positive));
    EXPECT_EQ(locks_.find("l").value().expires_at, most_positive);
    EXPECT_FALSE(acquire("l", "b", 1, most_positive - 1));
    EXPECT_TRUE(acquire("l", "b", most_negative, most_positive));
    EXPECT_TRUE(acquire("low", "a", most_negative, -5));
    EXPECT_EQ(locks_.find("low").value().expires_at, most_negative);
    EXPECT_TRUE(acquire("low", "b", 1, most_negative));
}

TEST_F(NamedLocks, AreRenewedByTheirOwnerUntilAnotherTakesThem)
{
    EXPECT_FALSE(renew("l", "a", 10));
    acquire("l", "a", 10);
    const std::int64_t first = fence("l");
    EXPECT_TRUE(renew("l", "a", 5, now + 1));
    EXPECT_EQ(locks_.find("l").value().expires_at, now + 6);
    EXPECT_FALSE(renew("l", "b", 10));
    EXPECT_TRUE(renew("l", "a", most_positive, now + 100));
    EXPECT_EQ(locks_.find("l").value().expires_at, most_positive);
    EXPECT_EQ(fence("l"), first);
    EXPECT_TRUE(renew("l", "a", 1, now));
    EXPECT_TRUE(acquire("l", "b", 10, now + 1));
    EXPECT_FALSE(renew("l", "a", 10, now + 1));
}

TEST_F(NamedLocks, AreNotRenewedForNoTime)
{
    EXPECT_THROW(require_lock_ttl(0), invalid_argument);
    EXPECT_THROW(require_lock_ttl(most_negative), invalid_argument);
    EXPECT_NO_THROW(require_lock_ttl(1));
    try {
        require_lock_ttl(-1);
    } catch (const invalid_argument& error) {
        EXPECT_STREQ(error.what(), "ttl_s must be positive, got -1");
    }
}

TEST_F(NamedLocks, AreReleasedByTheirOwnerOnlyAlsoAfterTheirTime)
{
    EXPECT_FALSE(release("l", "a"));
    acquire("l", "a", 0);
    EXPECT_FALSE(release("l", "b"));
    EXPECT_TRUE(release("l", "a"));
    EXPECT_FALSE(release("l", "a"));
    EXPECT_FALSE(locks_.find("l"));
}

TEST_F(NamedLocks, TellWhenTheyWillBeFree)
{
    EXPECT_EQ(locks_.next_expiry("l", now), std::nullopt);
    acquire("l", "a", 10);
    EXPECT_EQ(locks_.next_expiry("l", now), now + 10);
    EXPECT_EQ(locks_.next_expiry("l", now + 9), now + 10);
    EXPECT_EQ(locks_.next_expiry("l", now + 10), std::nullopt);
    EXPECT_EQ(locks_.next_expiry("l", most_negative), now + 10);
}

TEST_F(NamedLocks, MayHaveEmptyNamesAndOwners)
{
    EXPECT_TRUE(acquire("", ""));
    EXPECT_FALSE(acquire("", "a"));
    EXPECT_TRUE(release("", ""));
}

TEST_F(NamedLocks, OfAnotherProgramMayEndAtNoTimeOrInBetween)
{
    file().sql("INSERT INTO _honker_locks VALUES ('text', 'a', 'never'), ('real', 'a', 1000.5),"
               " (x'6c', 'a', 5000), (NULL, 'a', 5000), ('blob', x'61', 5000)");
    EXPECT_FALSE(acquire("text", "b", 10, most_positive));
    EXPECT_EQ(locks_.next_expiry("text", now), most_positive);
    EXPECT_FALSE(acquire("real", "b", 10, now));
    EXPECT_EQ(locks_.next_expiry("real", now), now + 1);
    EXPECT_TRUE(acquire("real", "b", 10, now + 1));
    EXPECT_TRUE(acquire("l", "b"));
    EXPECT_FALSE(acquire("blob", "a"));
    EXPECT_FALSE(release("blob", "a"));
}

TEST_F(NamedLocks, AreNotHeldWhereATriggerKeepsThemFromBeingTaken)
{
    file().sql("CREATE TRIGGER t BEFORE INSERT ON _honker_locks BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_FALSE(acquire("l", "a"));
}

TEST_F(NamedLocks, HaveHigherFencesWithEachHolder)
{
    acquire("l", "a", 10);
    const std::int64_t first = fence("l");
    release("l", "a");
    acquire("l", "a", 10);
    const std::int64_t second = fence("l");
    EXPECT_GT(second, first);
    acquire("l", "b", 10, now + 10);
    const std::int64_t third = fence("l");
    EXPECT_GT(third, second);
    acquire("l", "b", 10, now + 20);
    EXPECT_GT(fence("l"), third);
}

TEST_F(NamedLocks, HaveHigherFencesWhoeverChangesThem)
{
    const std::string row = "_honker_locks VALUES ('l', ";
    expect_next_fence("INSERT INTO " + row + "'a', 5000)");
    expect_next_fence("DELETE FROM _honker_locks; INSERT INTO " + row + "'b', 5000)");
    expect_next_fence("INSERT OR REPLACE INTO " + row + "'c', 5000)");
    expect_next_fence("UPDATE _honker_locks SET owner = 'd'");
    expect_next_fence("UPDATE OR REPLACE _honker_locks SET owner = 'e'");
    expect_next_fence("UPDATE OR IGNORE _honker_locks SET owner = 'f', expires_at = 1");
    expect_next_fence("INSERT INTO " + row +
                      "'g', 5000) ON CONFLICT (name) DO UPDATE SET owner = excluded.owner");
    expect_next_fence("PRAGMA recursive_triggers = on; REPLACE INTO " + row + "'h', 5000)");
    expect_next_fence("PRAGMA recursive_triggers = off;"
                      "INSERT INTO _honker_locks VALUES ('m', 'i', 1);"
                      "UPDATE OR REPLACE _honker_locks SET name = 'l' WHERE name = 'm'");
    expect_next_fence("UPDATE _honker_locks SET name = 'n'", "n");
    expect_next_fence("DELETE FROM _honker_locks; VACUUM; INSERT INTO " + row + "'j', 5000)");
    EXPECT_THAT(file().sql("SELECT name FROM _skein_lock_fences"), ElementsAre("l"));
}

TEST_F(NamedLocks, KeepTheirFencesWhileTheirHoldersStay)
{
    acquire("l", "a");
    const std::int64_t first = fence("l");
    file().sql("UPDATE _honker_locks SET expires_at = 7000, owner = 'a', name = 'l'");
    file().sql("INSERT OR IGNORE INTO _honker_locks VALUES ('l', 'b', 5000)");
    file().sql("INSERT INTO _honker_locks VALUES ('l', 'b', 5000) ON CONFLICT DO NOTHING");
    file().sql("BEGIN; REPLACE INTO _honker_locks VALUES ('l', 'b', 5000); ROLLBACK");
    EXPECT_EQ(fence("l"), first);
    EXPECT_EQ(locks_.find("l").value().owner, "a");
}

TEST_F(NamedLocks, LeaveNoFencesBehind)
{
    for (int each = 0; each < 5; ++each) {
        acquire("l" + std::to_string(each), "a");
        release("l" + std::to_string(each), "a");
    }
    file().sql("INSERT INTO _honker_locks VALUES (NULL, 'a', 5000);"
               "UPDATE _honker_locks SET name = 'l'; UPDATE _honker_locks SET name = NULL;"
               "DELETE FROM _honker_locks");
    EXPECT_THAT(file().sql("SELECT name FROM _skein_lock_fences"), IsEmpty());
}

TEST_F(NamedLocks, OfAnotherProgramGetFencesWhenTheFileIsCompleted)
{
    acquire("l", "a");
    const std::int64_t first = fence("l");
    file().sql("DROP TRIGGER _skein_lock_taken; DROP TRIGGER _skein_lock_released;"
               "INSERT INTO _honker_locks VALUES ('m', 'b', 5000);"
               "REPLACE INTO _honker_locks VALUES ('l', 'b', 5000)");
    tables_.create(lock_tables());
    EXPECT_GT(fence("l"), first);
    EXPECT_GT(fence("m"), first);
    const std::int64_t second = fence("l");
    file().sql("DROP TABLE _honker_locks");
    tables_.create(lock_tables());
    acquire("l", "a");
    EXPECT_GT(fence("l"), second);
}

TEST_F(NamedLocks, KeepTheirFencesWhenTheirStatementsRunAgain)
{
    acquire("l", "a");
    const std::int64_t first = fence("l");
    for (const std::string& each : completing_statements(lock_tables())) {
        file().sql(each);
    }
    EXPECT_EQ(fence("l"), first);
}

TEST_F(NamedLocks, OfAPlainFileHaveNoFences)
{
    const skein::support::plain_connection plain_file(directory_ / "plain.db");
    plain_file.sql(lock_tables().statements[0]);
    const skein::sqlite::connection connection(plain_file.handle());
    named_locks plain(connection, inspect_family(connection, lock_tables()));
    const lock_attempt attempt = plain.acquire("l", "a", 10, now);
    EXPECT_TRUE(attempt.is_held);
    EXPECT_EQ(attempt.fence, std::nullopt);
    EXPECT_FALSE(plain.acquire("l", "b", 10, now).is_held);
    EXPECT_TRUE(plain.renew("l", "a", 20, now));
    EXPECT_EQ(plain.next_expiry("l", now), now + 20);
    EXPECT_TRUE(plain.release("l", "a"));
}

class LockModel : public NamedLocks, public testing::WithParamInterface<unsigned> {
protected:
    struct row {
        std::string owner;
        std::int64_t expires_at = 0;
        bool is_taken_anew = false;
    };

    std::int64_t pick(std::int64_t count) { return static_cast<std::int64_t>(chance_()) % count; }

    bool expected_acquire(const std::string& name, const std::string& owner, std::int64_t ttl)
    {
        if (const auto found = rows_.find(name);
            found != rows_.end() && found->second.expires_at <= time_) {
            rows_.erase(found);
        }
        return rows_.try_emplace(name, row{owner, time_ + ttl, true}).first->second.owner == owner;
    }

    void step()
    {
        const std::string name = "l" + std::to_string(pick(2));
        const std::string owner = "o" + std::to_string(pick(3));
        const std::int64_t ttl = pick(6) - 1;
        const auto found = rows_.find(name);
        const bool is_own = found != rows_.end() && found->second.owner == owner;
        switch (pick(6)) {
        case 0:
            ASSERT_EQ(renew(name, owner, ttl + 2, time_), is_own);
            if (is_own) {
                found->second.expires_at = time_ + ttl + 2;
            }
            break;
        case 1:
            ASSERT_EQ(release(name, owner), is_own);
            if (is_own) {
                rows_.erase(found);
            }
            break;
        case 2:
            foreign_step(name, owner, ttl);
            break;
        default:
            ASSERT_EQ(acquire(name, owner, ttl, time_), expected_acquire(name, owner, ttl));
        }
        time_ += pick(3) - (pick(10) == 0 ? 4 : 0);
    }

    void foreign_step(const std::string& name, const std::string& owner, std::int64_t ttl)
    {
        const std::string end = std::to_string(time_ + ttl);
        if (const auto found = rows_.find(name); pick(2) == 0 && found != rows_.end()) {
            file().sql("UPDATE _honker_locks SET owner = '" + owner + "', expires_at = " + end +
                       " WHERE name = '" + name + "'");
            found->second.is_taken_anew |= found->second.owner != owner;
            found->second.owner = owner;
            found->second.expires_at = time_ + ttl;
            return;
        }
        file().sql("REPLACE INTO _honker_locks VALUES ('" + name + "', '" + owner + "', " + end +
                   ")");
        rows_[name] = {owner, time_ + ttl, true};
    }

    void compare()
    {
        for (const std::string name : {"l0", "l1"}) {
            const auto state = locks_.find(name);
            const auto expected = rows_.find(name);
            ASSERT_EQ(state.has_value(), expected != rows_.end());
            if (!state) {
                ASSERT_EQ(locks_.next_expiry(name, time_), std::nullopt);
                continue;
            }
            row& lock = expected->second;
            ASSERT_EQ(std::tie(state->owner, state->expires_at),
                      std::tie(lock.owner, lock.expires_at));
            ASSERT_EQ(locks_.next_expiry(name, time_),
                      lock.expires_at > time_ ? std::optional(lock.expires_at) : std::nullopt);
            std::int64_t& last = fences_[name];
            ASSERT_TRUE(lock.is_taken_anew ? state->fence > last : state->fence == last);
            last = state->fence.value();
            lock.is_taken_anew = false;
        }
    }

    std::mt19937 chance_{GetParam()};
    std::map<std::string, row> rows_;
    std::map<std::string, std::int64_t> fences_;
    std::int64_t time_ = now;
};

TEST_P(LockModel, AndStoreDoTheSame)
{
    for (int turn = 0; turn < 1000; ++turn) {
        step();
        compare();
        ASSERT_FALSE(HasFailure()) << "in step " << turn;
    }
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, LockModel, testing::Range(1U, 5U));

} // namespace
