#include "sqlite/wal_reset_bug.hpp"

#include <gtest/gtest.h>

namespace {

using skein::sqlite::has_wal_reset_bug;

TEST(WalResetBug, IsInEveryVersionWithALogUntilItsRepair)
{
    for (const int version : {3007000, 3040001, 3044000, 3044005, 3045000, 3046001, 3050000,
                              3050006, 3051000, 3051002}) {
        EXPECT_TRUE(has_wal_reset_bug(version)) << version;
    }
}

TEST(WalResetBug, IsNotInTheVersionsThatWereRepaired)
{
    for (const int version :
         {3044006, 3044999, 3050007, 3050999, 3051003, 3052000, 3053000, 4000000}) {
        EXPECT_FALSE(has_wal_reset_bug(version)) << version;
    }
}

TEST(WalResetBug, IsNotInVersionsWithoutALog)
{
    EXPECT_FALSE(has_wal_reset_bug(3006023));
}

} // namespace
