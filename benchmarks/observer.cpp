// What an observer costs: publish, claim and ack by 1 and by 64 coroutines at once, in three
// databases in turns: without an observer, with one that overrides nothing, and with one that
// counts. Nothing is synced, so that the processor's work is what is measured.
//
// The time is that without an observer; `empty` and `counting` are the others', divided by it.

#include "support/quantile.hpp"
#include "support/rethrow.hpp"
#include "support/scratch_file.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace benchmarks;

constexpr int rounds = 2000;
constexpr int rounds_before = 100;

/// Counts by the transport's name, as metrics do.
class counting_observer final : public skein::observer {
public:
    void on_message_published(const skein::message_published& event) override
    {
        count(published_, event.transport);
    }
    void on_message_claimed(const skein::message_claimed& event) override
    {
        count(claimed_, event.transport);
    }
    void on_message_acked(const skein::message_acked& event) override
    {
        count(acked_, event.transport);
        held_ += event.held.value_or(held_.zero());
    }
    void on_batch_committed(const skein::batch_committed& event) override
    {
        operations_ += event.operations;
    }

private:
    using counters = std::map<std::string, long, std::less<>>;

    static void count(counters& in, std::string_view name)
    {
        const auto found = in.find(name);
        ++(found != in.end() ? found->second : in[std::string(name)]);
    }

    counters published_;
    counters claimed_;
    counters acked_;
    std::chrono::nanoseconds held_{};
    std::size_t operations_ = 0;
};

asio::awaitable<void> publish_claim_and_ack(skein::transport transport, std::string group)
{
    co_await transport.publish(group, "a payload of some forty bytes, as they are");
    skein::message message = co_await transport.claim();
    const bool is_ours = co_await message.ack();
    benchmark::DoNotOptimize(is_ours);
}

/// A transport in a file of its own.
class subject {
public:
    subject(std::shared_ptr<skein::observer> observer, std::size_t coroutines)
        : coroutines_(coroutines), database_(open(io_, file_.path(), std::move(observer))),
          transport_(database_.transport())
    {
    }

    /// Returns the microseconds of one round.
    double run()
    {
        using clock = std::chrono::steady_clock;
        const clock::time_point start = clock::now();
        for (std::size_t each = 0; each != coroutines_; ++each) {
            asio::co_spawn(io_, publish_claim_and_ack(transport_, std::to_string(each)), rethrow);
        }
        io_.restart();
        io_.run();
        return std::chrono::duration<double, std::micro>(clock::now() - start).count();
    }

private:
    static skein::database open(asio::io_context& io, const std::string& path,
                                std::shared_ptr<skein::observer> observer)
    {
        skein::database_options options;
        options.durability = skein::durability::off;
        options.observer = std::move(observer);
        return skein::database(io.get_executor(), path, options);
    }

    std::size_t coroutines_;
    asio::io_context io_;
    scratch_file file_;
    skein::database database_;
    skein::transport transport_;
};

void observing(benchmark::State& state)
{
    const auto coroutines = static_cast<std::size_t>(state.range(0));
    subject without(nullptr, coroutines);
    subject empty(std::make_shared<skein::observer>(), coroutines);
    subject counting(std::make_shared<counting_observer>(), coroutines);
    for (int each = 0; each != rounds_before; ++each) {
        without.run();
        empty.run();
        counting.run();
    }
    std::vector<double> base;
    std::vector<double> with_empty;
    std::vector<double> with_counting;
    for (auto _ : state) {
        base.push_back(without.run());
        with_empty.push_back(empty.run());
        with_counting.push_back(counting.run());
        state.SetIterationTime(base.back() / 1e6);
    }
    const double median = quantile(base, 0.5);
    state.counters["p50_us"] = median;
    state.counters["empty"] = quantile(with_empty, 0.5) / median;
    state.counters["counting"] = quantile(with_counting, 0.5) / median;
}

BENCHMARK(observing)->Arg(1)->Arg(64)->Iterations(rounds)->UseManualTime()->Unit(
    benchmark::kMicrosecond);

} // namespace
