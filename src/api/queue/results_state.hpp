#pragma once

#include "api/queue/queue_store.hpp"
#include "runtime/engine.hpp"

#include <skein/results.hpp>

#include <memory>

namespace skein::api {

/// What a `results` handle refers to.
struct results_state {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<queue_store> store;
    bool create_schema = true;

    /// The tables, for writing.
    [[nodiscard]] queue_statements& ready(runtime::batch& batch) const
    {
        return store->ready(batch, create_schema);
    }
};

[[nodiscard]] std::shared_ptr<const results_state>
make_results_state(std::shared_ptr<runtime::engine> engine, const results_options& options);

} // namespace skein::api
