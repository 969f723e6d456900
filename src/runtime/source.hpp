#pragma once

#include "sqlite/connection.hpp"

#include <skein/clock.hpp>

#include <optional>

namespace skein::runtime {

/// Something in the file that can be waited on, such as one transport. All calls are made on the
/// strand.
class source {
public:
    source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    virtual ~source() = default;

    /// The next moment, later than `since`, when time alone may make something claimable. Only
    /// reads. It may have passed by now: since then nobody has looked.
    [[nodiscard]] virtual std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                                                   clock::wall_time since) = 0;

    /// Whether a change of `changed` is one of this source.
    [[nodiscard]] virtual bool changes_with(const source& changed) const noexcept
    {
        return this == &changed;
    }

    /// Gives up its statements: the connection is about to be closed.
    virtual void disconnect() noexcept = 0;
};

} // namespace skein::runtime
