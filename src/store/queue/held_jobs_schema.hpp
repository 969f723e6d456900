#pragma once

#include "store/table_family.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace skein::store {

/// What keeps jobs from being claimed although they are due: queues that are paused, and keys of
/// which only so many jobs may run.
///
/// A job that is held is an ordinary `scheduled` row of a far future, `held_until`, so that every
/// program can see, cancel and expire it, no claim walks past it, and none takes it. When it is
/// really due stands beside it. Triggers of the file do all of that, whoever writes.
///
/// - `_skein_paused_queues`: the queues that are paused.
/// - `_skein_paused_jobs`: the jobs that their queue's pause holds. To put a row there holds the
///   job, to delete the row gives it back.
/// - `_skein_job_limits`: how many jobs of a key may run.
/// - `_skein_limited_jobs`: the live jobs that have a key, and their place in it (`job_place`). Of
///   each key the jobs that have a place are those that run and, as many as are left, the first of
///   those that wait in the order of their claim. The others are held until it is their turn.
/// - `_skein_limited_letters`: the limits of those that have become dead letters.
///
/// The triggers read no clock, and none of them relies on being called recursively, or on not being
/// so: programs may set `recursive_triggers` as they like.
[[nodiscard]] table_family held_job_tables();

/// When a job that is held is due, in epoch seconds: shortly before the end of the year 9999. Not
/// its last second, by which people say "never".
inline constexpr std::int64_t held_until = 253402300797;

/// When a job is due that somebody wants to be due then, and not to be taken for one that is held.
[[nodiscard]] constexpr std::int64_t due_unheld(std::int64_t wanted) noexcept
{
    return wanted == held_until ? wanted - 1 : wanted;
}

/// Of a row of live jobs that is called so (with a dot at the end), or of the one at hand: whether
/// the job is held.
[[nodiscard]] std::string is_held(std::string_view row = "");

/// The place of a job in its key.
enum class job_place {
    none = 0,      ///< it needs none yet: it is not due
    placed = 1,    ///< it may be claimed, or runs
    blocked = 2,   ///< held: the key is full
    candidate = 3, ///< only while a trigger decides between the other two
};

} // namespace skein::store
