// What a claim and its acknowledgement take with 1,000,000 messages or groups of one kind in the
// file, against 1,000: one file of each size, measured in turns in one run.
//
// One coroutine, on the database's thread, durability normal. Before each claim a message of our
// own is published, which is not measured; so the crowd keeps its size, also where the claims take
// from it. The groups' names are scattered, as random ids are.
//
// p50_us_1k and p50_us_1M are the medians in microseconds; ratio is the second to the first.
// first_ms_1M is the very first claim and acknowledgement in the large file, in milliseconds.
//
// Ghosts are rows of groups whose messages are gone. The first claim meets them and removes them;
// the claims after it are measured.

#include "support/crowded_file.hpp"
#include "support/few_and_many.hpp"

#include <benchmark/benchmark.h>

#include <span>
#include <string_view>

namespace {

using benchmarks::crowd;
using benchmarks::crowded_file;

constexpr std::string_view keys[] = {"key0", "key1", "key2", "key3",
                                     "key4", "key5", "key6", "key7"};
constexpr std::span<const std::string_view> eight_keys(keys);

// Far in the future, and not all at one moment.
constexpr std::string_view later = "unixepoch() + 1000000.0 + i";
constexpr std::string_view other_keys = "'another' || (i % 1000)";

constexpr crowd messages_in_one_group{
    .group = "'deep'", .own_group = "deep", .role = crowd::place::claimed};
constexpr crowd groups{.role = crowd::place::claimed};
constexpr crowd parked_groups{.locked_by = "'__parked__'", .blocked_until = later};
constexpr crowd groups_in_flight{.locked_by = "'worker#' || i", .blocked_until = later};
constexpr crowd groups_under_the_floor{
    .priority = "i % 2", .own = {.priority = 2}, .claim = {.min_priority = 2}};
constexpr crowd groups_of_other_keys_than_one{.routing_key = other_keys,
                                              .own = {.routing_key = "key0"},
                                              .claim = {.routing_keys = eight_keys.first(1)}};
constexpr crowd groups_of_other_keys_than_eight{.routing_key = other_keys,
                                                .own = {.routing_key = "key7"},
                                                .claim = {.routing_keys = eight_keys}};
constexpr crowd ghosts_met_once{.state = crowd::messages::lost};

void claim_and_ack(benchmark::State& state, const crowd& what)
{
    benchmarks::compare_sizes<crowded_file>(state, what);
}

BENCHMARK_CAPTURE(claim_and_ack, messages_in_one_group, messages_in_one_group)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, groups, groups)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, parked_groups, parked_groups)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, groups_in_flight, groups_in_flight)->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, groups_under_the_floor, groups_under_the_floor)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, groups_of_other_keys_than_one, groups_of_other_keys_than_one)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, groups_of_other_keys_than_eight, groups_of_other_keys_than_eight)
    ->Apply(benchmarks::sized);
BENCHMARK_CAPTURE(claim_and_ack, ghosts_met_once, ghosts_met_once)->Apply(benchmarks::sized);

} // namespace
