#pragma once

#include "api/transport/transport_source.hpp"
#include "runtime/engine.hpp"

#include <skein/transport.hpp>

#include <memory>

namespace skein::api {

/// What a `transport` handle refers to.
struct transport_state {
    [[nodiscard]] static const std::shared_ptr<const transport_state>&
    of(const transport& handle) noexcept
    {
        return handle.state_;
    }

    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<transport_source> source;
    double visibility = 0; ///< seconds
    bool create_schema = true;
    bool fair_turns = false;

    /// The store, for writing.
    [[nodiscard]] store::transport& ready(runtime::batch& batch) const
    {
        return source->ready(batch, create_schema);
    }
};

/// Throws `errc::invalid_argument`.
[[nodiscard]] std::shared_ptr<const transport_state>
make_transport_state(std::shared_ptr<runtime::engine> engine, const transport_options& options);

} // namespace skein::api
