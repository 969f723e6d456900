#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LockFunctions = contract_fixture;
using RateLimitFunctions = contract_fixture;

TEST_F(LockFunctions, GiveALockToOneOwner)
{
    EXPECT_EQ(call("honker_lock_acquire('l', 'a', 10)"), "1");
    EXPECT_EQ(call("honker_lock_acquire('l', 'b', 10)"), "0");
    now_ = 1005;
    EXPECT_EQ(call("honker_lock_acquire('l', 'a', 10)"), "1"); // is not extended
    EXPECT_EQ(value("SELECT * FROM _honker_locks"), "l|a|1010");
    now_ = 1010;
    EXPECT_EQ(call("honker_lock_acquire('l', 'b', 10)"), "1");
    EXPECT_EQ(call("honker_lock_release('l', 'a')"), "0");
    EXPECT_EQ(call("honker_lock_release('l', 'b')"), "1");
    EXPECT_EQ(call("honker_lock_release('l', 'b')"), "0");
}

TEST_F(LockFunctions, GiveLocksForNoTime)
{
    EXPECT_EQ(call("honker_lock_acquire('l', 'a', 0)"), "1");
    EXPECT_EQ(call("honker_lock_acquire('l', 'b', -9223372036854775808)"), "1");
    EXPECT_EQ(call("honker_lock_acquire('m', 'c', 1)"), "1");
    EXPECT_THAT(sql("SELECT name, owner FROM _honker_locks ORDER BY name"),
                ElementsAre("l|b", "m|c"));
}

TEST_F(LockFunctions, RenewWhatNobodyElseHas)
{
    call("honker_lock_acquire('l', 'a', 10)");
    EXPECT_EQ(call("honker_lock_renew('l', 'b', 10)"), "0");
    EXPECT_EQ(call("honker_lock_renew('none', 'a', 10)"), "0");
    now_ = 1100;
    EXPECT_EQ(call("honker_lock_renew('l', 'a', 10)"), "1");
    EXPECT_EQ(value("SELECT expires_at FROM _honker_locks"), "1110");
    for (const char* const ttl : {"0", "-1"}) {
        EXPECT_THAT(refusal_of("honker_lock_renew('l', 'a', " + std::string(ttl) + ")"),
                    HasSubstr("ttl_s must be positive"));
    }
}

TEST_F(LockFunctions, TellTheHolder)
{
    EXPECT_EQ(call("skein_lock_holder('l')"), "NULL");
    call("honker_lock_acquire('l', 'a', 10)");
    EXPECT_EQ(call("skein_lock_holder('l')"), "{\"expires_at\":1010,\"fence\":1,\"owner\":\"a\"}");
    now_ = 1010;
    EXPECT_EQ(call("skein_lock_holder('l')"), "NULL");
    call("honker_lock_acquire('l', 'b', 10)");
    EXPECT_EQ(call("skein_lock_holder('l') ->> 'fence'"), "2");
}

TEST_F(RateLimitFunctions, CountInWindowsOfTheEpoch)
{
    now_ = 1019;
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 20)"), "1");
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 20)"), "1");
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 20)"), "0");
    EXPECT_EQ(call("honker_rate_limit_try('s', 2, 20)"), "1");
    now_ = 1020;
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 20)"), "1");
    EXPECT_THAT(sql("SELECT * FROM _honker_rate_limits ORDER BY 1, 2"),
                ElementsAre("r|1000|2", "r|1020|1", "s|1000|1"));
    // Windows that begin together share their counter.
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 10)"), "1");
    EXPECT_EQ(call("honker_rate_limit_try('r', 2, 60)"), "0");
    EXPECT_EQ(call("honker_rate_limit_try('r', 3, 60)"), "1");
}

TEST_F(RateLimitFunctions, NeedPositiveNumbers)
{
    for (const char* const numbers : {"0, 1", "1, 0", "-1, 1", "1, -1"}) {
        EXPECT_THAT(refusal_of("honker_rate_limit_try('r', " + std::string(numbers) + ")"),
                    HasSubstr("limit and per must be positive"));
    }
    EXPECT_EQ(call("honker_rate_limit_try('r', 9223372036854775807, 9223372036854775807)"), "1");
}

TEST_F(RateLimitFunctions, SweepOldWindows)
{
    call("honker_rate_limit_try('a', 1, 10)");
    now_ = 1015;
    call("honker_rate_limit_try('b', 1, 10)");
    EXPECT_EQ(call("honker_rate_limit_sweep(15)"), "0");
    EXPECT_EQ(call("honker_rate_limit_sweep(14)"), "1");
    EXPECT_EQ(call("honker_rate_limit_sweep(0)"), "1"); // the current window, too
    EXPECT_EQ(call("honker_rate_limit_sweep(-9223372036854775808)"), "0");
}

TEST_F(RateLimitFunctions, SpreadPermitsOverTime)
{
    EXPECT_EQ(call("skein_rate_limit_try_paced('p', 1, 10, 2)"), "1");
    EXPECT_EQ(call("skein_rate_limit_try_paced('p', 1, 10, 2)"), "1");
    EXPECT_EQ(call("skein_rate_limit_try_paced('p', 1, 10, 2)"), "0");
    now_ = 1009;
    EXPECT_EQ(call("skein_rate_limit_try_paced('p', 1, 10, 2)"), "0");
    now_ = 1010;
    EXPECT_EQ(call("skein_rate_limit_try_paced('p', 1, 10, 2)"), "1");
    EXPECT_THAT(refusal_of("skein_rate_limit_try_paced('p', 0, 1, 1)"),
                HasSubstr("must be positive"));
    EXPECT_EQ(call("skein_rate_limit_try_paced('huge', 1, 9223372036854775807,"
                   " 9223372036854775807)"),
              "1");
}

} // namespace
