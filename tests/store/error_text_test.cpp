#include "store/queue/error_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace skein::store;

TEST(ErrorText, IsKeptAsItIsWhenItIsUtf8)
{
    for (const std::string& each :
         {std::string(), std::string("timeout"), std::string("a\0b", 3),
          std::string("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF")}) {
        EXPECT_EQ(kept_error_text(each), each);
    }
}

TEST(ErrorText, HasBytesThatAreNoneReplaced)
{
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(kept_error_text("caf\xE9!"), "caf" + bad + "!");
    EXPECT_EQ(kept_error_text("\x80"), bad);
    EXPECT_EQ(kept_error_text("\xC0\x80"), bad + bad);
    EXPECT_EQ(kept_error_text("\xE0\x80\x80"), bad + bad + bad);
    EXPECT_EQ(kept_error_text("\xED\xA0\x80"), bad + bad + bad);
    EXPECT_EQ(kept_error_text("\xF0\x80\x80\x80"), bad + bad + bad + bad);
    EXPECT_EQ(kept_error_text("\xF4\x90\x80\x80"), bad + bad + bad + bad);
    EXPECT_EQ(kept_error_text("\xE2\x82"), bad + bad);
    EXPECT_EQ(kept_error_text("\xFF"), bad);
}

TEST(ErrorText, IsCutAtTheEndOfACharacter)
{
    EXPECT_EQ(kept_error_text(std::string(1'000'000, 'x')), std::string(longest_error_text, 'x'));

    const std::string almost(longest_error_text - 1, 'x');
    EXPECT_EQ(kept_error_text(almost + "\xE2\x82\xAC"), almost);
    EXPECT_EQ(kept_error_text(almost + "\xFF"), almost);
    EXPECT_EQ(kept_error_text(almost + "yz"), almost + "y");
}

} // namespace
