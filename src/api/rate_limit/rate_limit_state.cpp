#include "api/rate_limit/rate_limit_state.hpp"

#include "api/microseconds.hpp"
#include "api/seconds.hpp"

#include <skein/error.hpp>

namespace skein::api {

namespace {

void require_positive(std::string_view argument, std::int64_t given, std::string_view unit)
{
    if (given <= 0) {
        throw error(errc::invalid_argument, std::string(argument) + ": " + std::to_string(given) +
                                                std::string(unit) +
                                                " is not accepted; more than zero is");
    }
}

/// The pace of a limit that has one.
std::optional<store::pace> checked_pace(const rate_limit_options& options)
{
    switch (options.algorithm) {
    case rate_limit_algorithm::fixed_window:
        if (options.burst) {
            throw error(errc::invalid_argument,
                        "burst: given with fixed_window; only paced accepts one");
        }
        return std::nullopt;
    case rate_limit_algorithm::paced:
        require_positive("burst", options.burst.value_or(1), "");
        return store::pace{options.permits, to_microseconds(options.per),
                           options.burst.value_or(1)};
    }
    throw error(errc::invalid_argument, "algorithm: not a value of rate_limit_algorithm");
}

/// One text for equal limits, another for all others. A name may hold any character.
std::string describe(const rate_limit_state& limit)
{
    const std::int64_t burst = limit.wanted_pace ? limit.wanted_pace->burst : 0;
    return std::string("permit") + (limit.create_schema ? '/' : ':') +
           std::to_string(limit.permits) + '/' + std::to_string(limit.per) + '/' +
           std::to_string(burst) + ' ' + std::to_string(limit.name.size()) + ':' + limit.name;
}

} // namespace

std::shared_ptr<rate_limit_store> rate_limit_store_of(runtime::engine& engine)
{
    return engine.source_named<rate_limit_store>("rate limits");
}

std::shared_ptr<const rate_limit_state>
make_rate_limit_state(std::shared_ptr<runtime::engine> engine, std::string_view name,
                      const rate_limit_options& options)
{
    require_positive("permits", options.permits, "");
    require_positive("per", options.per.count(), " s");
    auto made = std::make_shared<rate_limit_state>();
    made->wanted_pace = checked_pace(options);
    made->store = rate_limit_store_of(*engine);
    made->engine = std::move(engine);
    made->name = name;
    made->permits = options.permits;
    made->per = options.per.count();
    made->create_schema = options.create_schema;
    made->accepts = describe(*made);
    return made;
}

std::optional<clock::wall_time> rate_limit_state::look(rate_limit_statements& there,
                                                       clock::wall_time now) const
{
    if (wanted_pace) {
        const std::int64_t moment = to_microseconds(now);
        const store::permit_forecast found = there.paced.look(name, *wanted_pace, moment);
        const bool has_work = found.free_at <= moment || found.must_pull_back;
        return has_work ? std::nullopt : std::optional(from_microseconds(found.free_at));
    }
    const std::int64_t second = to_seconds(now);
    const std::int64_t free_at = there.windows.next_free(name, permits, per, second);
    return free_at <= second ? std::nullopt : std::optional(from_seconds(free_at));
}

permit_answer rate_limit_state::take(runtime::batch& batch) const
{
    return wanted_pace ? take_paced(batch) : take_in_window(batch);
}

permit_answer rate_limit_state::take_paced(runtime::batch& batch) const
{
    store::paced_limits& limits = store->ready(batch, create_schema).paced;
    const store::permit_attempt attempt =
        limits.try_take(name, *wanted_pace, to_microseconds(batch.now()));
    if (attempt.is_pulled_back) {
        // Who waits for the same name at another pace was told of a later time.
        batch.touch(*store);
    }
    return {attempt.is_taken, from_microseconds(attempt.free_at)};
}

permit_answer rate_limit_state::take_in_window(runtime::batch& batch) const
{
    store::rate_limits& limits = store->ready(batch, create_schema).windows;
    const std::int64_t now = to_seconds(batch.now());
    if (limits.try_take(name, permits, per, now)) {
        return {true, {}};
    }
    return {false, from_seconds(limits.next_free(name, permits, per, now))};
}

} // namespace skein::api
