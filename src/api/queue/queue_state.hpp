#pragma once

#include "api/queue/queue_features.hpp"
#include "api/queue/queue_source.hpp"
#include "api/queue/queue_store.hpp"
#include "runtime/engine.hpp"

#include <skein/queue.hpp>
#include <skein/queue_choice.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skein::api {

/// What a `queue` handle refers to.
struct queue_state {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<queue_store> store;
    std::shared_ptr<queue_features> features;
    std::shared_ptr<queue_source> source;
    std::int64_t visibility = 0; ///< seconds
    std::int64_t max_attempts = 0;
    bool create_schema = true;

    [[nodiscard]] const std::string& name() const noexcept { return source->name(); }

    /// The tables, for writing.
    [[nodiscard]] queue_statements& ready(runtime::batch& batch) const
    {
        return store->ready(batch, create_schema);
    }
};

/// What the queues of one database share.
[[nodiscard]] std::shared_ptr<queue_store> queue_store_of(runtime::engine& engine);

/// What all handles of a queue share.
[[nodiscard]] std::shared_ptr<queue_source> queue_source_of(runtime::engine& engine,
                                                            const std::string& name);

/// Throws `errc::invalid_argument`.
[[nodiscard]] std::shared_ptr<const queue_state>
make_queue_state(std::shared_ptr<runtime::engine> engine, std::string_view name,
                 const queue_options& options);

/// The queues that one claim takes from, by order of preference, and what its line is about.
struct queue_choice_state {
    explicit queue_choice_state(std::shared_ptr<const queue_state> only);
    /// Throws `errc::invalid_argument`.
    explicit queue_choice_state(std::vector<std::shared_ptr<const queue_state>> several);

    [[nodiscard]] static std::shared_ptr<const queue_choice_state> of(const queue& only)
    {
        return of(only.alone());
    }
    [[nodiscard]] static std::shared_ptr<const queue_choice_state> of(const queue_choice& several)
    {
        return several.state_;
    }

    std::vector<std::shared_ptr<const queue_state>> queues;
    std::shared_ptr<runtime::source> source;
    std::string accepts;

    [[nodiscard]] const std::shared_ptr<runtime::engine>& engine() const noexcept
    {
        return queues.front()->engine;
    }
};

/// The length of a lease in seconds, checked. Throws `errc::invalid_argument`.
[[nodiscard]] std::int64_t checked_visibility(std::chrono::seconds visibility);

} // namespace skein::api
