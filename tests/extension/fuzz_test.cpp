// Every function with arbitrary arguments, see fuzz_host.hpp. The choices are always the same, so
// that a failure can be had again.

#include "extension/fuzz_host.hpp"
#include "extension/fuzz_input.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using skein::fuzz::host;
using skein::fuzz::input;

constexpr int files = 20;
constexpr int calls = 300;

void call_everything(std::uint64_t seed, std::map<std::string, int>& successes)
{
    host program(SKEIN_EXTENSION);
    input choices(seed);
    for (int i = 0; i < calls; ++i) {
        program.call_any(choices);
    }
    program.check_integrity();
    for (const auto& [name, count] : program.successes()) {
        successes[name] += count;
    }
}

TEST(ArbitraryCalls, SucceedOrFailAsAWholeAndKeepTheTablesSound)
{
    std::map<std::string, int> successes;
    for (std::uint64_t seed = 1; seed <= files; ++seed) {
        ASSERT_NO_THROW(call_everything(seed, successes)) << "seed " << seed;
    }
    // That they have not all been refused.
    EXPECT_GE(successes.size(), 28u);
    for (const auto& [name, count] : successes) {
        EXPECT_GE(count, 5) << name;
    }
}

} // namespace
