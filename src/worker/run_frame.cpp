#include "worker/run_frame.hpp"

#include "runtime/log_line.hpp"

#include <asio/strand.hpp>

#include <utility>

namespace skein::worker {

namespace {

constexpr backoff pauses_of_the_database{.first = std::chrono::milliseconds{100},
                                         .most = std::chrono::seconds{30}};

std::mt19937_64 seeded()
{
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
}

} // namespace

run_frame::run_frame(asio::any_io_executor callers, std::shared_ptr<task_source> from,
                     run_settings how)
    : executor(std::move(callers)), strand(asio::make_strand(executor)), source(std::move(from)),
      settings(std::move(how)), random_(seeded())
{
}

void run_frame::warn(std::string text) const
{
    runtime::log_line::submit(engine(), log_level::warning, std::move(text));
}

std::chrono::nanoseconds pause_after_failures(std::int64_t failures, double random)
{
    // At least half of the longest: what goes on failing is not to be asked all the time.
    const duration pause = pauses_of_the_database.cap(failures) * (0.5 + random / 2);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(pause);
}

} // namespace skein::worker
