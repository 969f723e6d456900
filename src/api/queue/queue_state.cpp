#include "api/queue/queue_state.hpp"

#include "api/misuse.hpp"

#include <skein/error.hpp>

#include <algorithm>

namespace skein::api {

namespace {

// Each is asked by every look of a waiter.
constexpr std::size_t most_queues = 100;

void require_choice(const std::vector<std::shared_ptr<const queue_state>>& queues)
{
    if (queues.empty() || queues.size() > most_queues) {
        throw error(errc::invalid_argument, "queues: " + std::to_string(queues.size()) +
                                                " of them; 1 to " + std::to_string(most_queues) +
                                                " are accepted");
    }
    for (auto each = queues.begin(); each != queues.end(); ++each) {
        if ((*each)->engine != queues.front()->engine) {
            throw error(errc::invalid_argument,
                        "queues: '" + (*each)->name() +
                            "' is of another database; queues of one database are accepted");
        }
        const auto is_same = [&](const auto& other) { return other->source == (*each)->source; };
        if (std::any_of(queues.begin(), each, is_same)) {
            throw error(errc::invalid_argument,
                        "queues: '" + (*each)->name() + "' is there twice; once is accepted");
        }
    }
}

/// One text for equal queues, another for all others. A name may hold any character.
std::string describe(const std::vector<std::shared_ptr<const queue_state>>& queues)
{
    std::string text = "queue";
    for (const auto& each : queues) {
        text += each->create_schema ? '/' : ':';
        text += std::to_string(each->name().size()) + ':' + each->name();
    }
    return text;
}

} // namespace

std::shared_ptr<queue_store> queue_store_of(runtime::engine& engine)
{
    // Not "queue ..." something: that is what a queue of that name is called.
    return engine.source_named<queue_store>("tables of all queues");
}

std::shared_ptr<queue_source> queue_source_of(runtime::engine& engine, const std::string& name)
{
    return engine.source_named<queue_source>("queue " + name, queue_store_of(engine), name);
}

std::shared_ptr<const queue_state> make_queue_state(std::shared_ptr<runtime::engine> engine,
                                                    std::string_view name,
                                                    const queue_options& options)
{
    checked([&] { store::require_max_attempts(options.max_attempts); });
    const std::int64_t visibility = checked_visibility(options.visibility);
    std::shared_ptr<queue_store> store = queue_store_of(*engine);
    auto features = engine->source_named<queue_features>("features of all queues");
    std::shared_ptr<queue_source> source = queue_source_of(*engine, std::string(name));
    return std::make_shared<queue_state>(
        queue_state{std::move(engine), std::move(store), std::move(features), std::move(source),
                    visibility, options.max_attempts, options.create_schema});
}

queue_choice_state::queue_choice_state(std::shared_ptr<const queue_state> only)
    : queues{std::move(only)}, source(queues.front()->source), accepts(describe(queues))
{
}

queue_choice_state::queue_choice_state(std::vector<std::shared_ptr<const queue_state>> several)
    : queues(std::move(several))
{
    require_choice(queues);
    accepts = describe(queues);
    std::vector<std::shared_ptr<queue_source>> sources;
    sources.reserve(queues.size());
    for (const auto& each : queues) {
        sources.push_back(each->source);
    }
    source = engine()->source_named<queue_choice_source>("choice " + accepts, sources);
}

std::int64_t checked_visibility(std::chrono::seconds visibility)
{
    if (visibility.count() < 0) {
        throw error(errc::invalid_argument, "visibility: " + std::to_string(visibility.count()) +
                                                " s is not accepted; zero or more is");
    }
    return visibility.count();
}

} // namespace skein::api
