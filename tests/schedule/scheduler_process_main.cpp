// The program behind schedule_process_test.cpp: one who runs the scheduler in a process of its own,
// on the public interface, with a wall clock that is told to it.
//
//     skein_scheduler_process <database> <second>
//
// Each line of its input is a second to put the wall clock to. The answer, "served", comes when all
// that is due then has been served, by whichever process.

#include <skein/skein.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using wall_time = skein::clock::wall_time;

wall_time at(const std::string& second)
{
    return wall_time(std::chrono::seconds{std::stoll(second)});
}

/// The machine's clock, but for the wall clock, which stands still until it is put somewhere.
class told_clock final : public skein::clock {
public:
    explicit told_clock(wall_time now) : now_(now) {}

    void put(wall_time now) { now_ = now; }

    wall_time wall_now() const noexcept override { return now_; }
    steady_time steady_now() const noexcept override { return machine_->steady_now(); }
    std::unique_ptr<skein::alarm> make_alarm(asio::any_io_executor executor) override
    {
        return machine_->make_alarm(std::move(executor));
    }

private:
    std::shared_ptr<skein::clock> machine_ = skein::system_clock();
    std::atomic<wall_time> now_;
};

asio::awaitable<void> wait_until_served(skein::scheduler scheduler, wall_time now)
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    while (true) {
        const auto soonest = co_await scheduler.soonest();
        if (!soonest || *soonest > now) {
            co_return;
        }
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

void rethrow(std::exception_ptr failure)
{
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 3) {
        return 2;
    }
    const auto clock = std::make_shared<told_clock>(at(arguments[2]));
    skein::database database(arguments[1], {.durability = skein::durability::off, .clock = clock});
    const skein::scheduler scheduler = database.scheduler();
    asio::io_context context;
    asio::co_spawn(context, scheduler.run(), rethrow);
    const auto working = asio::make_work_guard(context);
    const std::jthread worker([&] { context.run(); });

    for (std::string line; std::getline(std::cin, line);) {
        clock->put(at(line));
        asio::co_spawn(context, wait_until_served(scheduler, at(line)), asio::use_future).get();
        std::cout << "served\n" << std::flush;
    }
    context.stop();
}
