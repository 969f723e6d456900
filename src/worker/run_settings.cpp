#include "worker/run_settings.hpp"

#include <skein/error.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace skein::worker {

namespace {

constexpr std::size_t most_at_once = 1000;

// Longer than anything runs, and short enough to be counted in nanoseconds.
constexpr duration longest = std::chrono::hours{24 * 365 * 100};

[[noreturn]] void refuse(std::string_view option, const std::string& value,
                         std::string_view accepted)
{
    throw error(errc::invalid_argument, std::string(option) + ": " + value + " is not accepted; " +
                                            std::string(accepted) + " is");
}

std::string in_seconds(duration length)
{
    return std::to_string(length.count()) + " s";
}

std::chrono::nanoseconds in_nanoseconds(duration length)
{
    return length < longest ? std::chrono::ceil<std::chrono::nanoseconds>(length) : no_limit;
}

/// Not a number is no length either.
std::chrono::nanoseconds checked_deadline(std::string_view option, duration length)
{
    if (!(length >= duration::zero())) {
        refuse(option, in_seconds(length), "zero or more");
    }
    return in_nanoseconds(length);
}

backoff checked_backoff(const backoff& pauses)
{
    if (!(pauses.first >= duration::zero())) {
        refuse("backoff.first", in_seconds(pauses.first), "zero or more");
    }
    if (!(pauses.most >= pauses.first)) {
        refuse("backoff.most", in_seconds(pauses.most), "backoff.first or more");
    }
    return {.first = std::min(pauses.first, longest), .most = std::min(pauses.most, longest)};
}

std::chrono::nanoseconds checked_time_limit(std::optional<duration> limit)
{
    if (limit && !(*limit > duration::zero())) {
        refuse("time_limit", in_seconds(*limit), "more than zero");
    }
    return limit ? in_nanoseconds(*limit) : no_limit;
}

std::int64_t checked_ttl(std::optional<std::chrono::seconds> ttl)
{
    if (ttl && ttl->count() <= 0) {
        refuse("result_ttl", std::to_string(ttl->count()) + " s", "more than zero");
    }
    return ttl ? ttl->count() : 0;
}

} // namespace

run_settings checked_settings(const worker_options& options, run_mode mode)
{
    if (options.concurrency == 0 || options.concurrency > most_at_once) {
        refuse("concurrency", std::to_string(options.concurrency),
               "1 to " + std::to_string(most_at_once));
    }
    run_settings checked{
        .concurrency = mode == run_mode::until_empty ? 1 : options.concurrency,
        .worker = std::string(options.worker),
        .visibility = options.visibility,
        .pauses = checked_backoff(options.backoff),
        .time_limit = checked_time_limit(options.time_limit),
        .soft_deadline = checked_deadline("soft_deadline", options.soft_deadline),
        .hard_deadline = checked_deadline("hard_deadline", options.hard_deadline),
        .result_ttl = checked_ttl(options.result_ttl),
        .mode = mode,
    };
    if (checked.hard_deadline < checked.soft_deadline) {
        refuse("hard_deadline", in_seconds(options.hard_deadline), "soft_deadline or more");
    }
    return checked;
}

void require_lease(duration visibility)
{
    if (!(visibility >= std::chrono::seconds{1})) {
        refuse("visibility", in_seconds(visibility), "1 s or more");
    }
}

std::chrono::seconds whole_seconds(duration delay) noexcept
{
    if (!(delay > duration::zero())) {
        return std::chrono::seconds{0};
    }
    return std::chrono::ceil<std::chrono::seconds>(std::min(delay, longest));
}

} // namespace skein::worker
