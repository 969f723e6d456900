#pragma once

#include <skein/backoff.hpp>
#include <skein/clock.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace skein {

/// How `run` works. The longest duration means no limit where one is given.
struct worker_options {
    /// How many handlers run at once; 1 to 1000. As many are leased, and none in advance.
    std::size_t concurrency = 10;

    /// Who claims, for those who look into the file. Empty: an id of the database object.
    std::string_view worker = {};

    /// How long a lease holds without a heartbeat, of which there are three in that time: how long
    /// it takes until another worker begins with what a killed one had. Absent: that of the handle.
    /// At least 1 s, as that of the handle then must be.
    std::optional<std::chrono::seconds> visibility = {};

    /// The pause before another attempt at what has failed. A queue rounds it up to whole seconds.
    skein::backoff backoff = {};

    /// How long one call of the handler may take before it is cancelled and counts as failed; more
    /// than zero. Absent: for ever.
    std::optional<duration> time_limit = {};

    /// When a stop is asked for: how long handlers may go on before they are cancelled, and how
    /// long before they are left behind; zero or more, and counted from the stop. The defaults fit
    /// into the 30 s after which Kubernetes, say, kills a program.
    duration soft_deadline = std::chrono::seconds{20};
    duration hard_deadline = std::chrono::seconds{25};

    /// How long what a handler returns is kept, see `results`; more than zero. Absent: until it is
    /// removed.
    std::optional<std::chrono::seconds> result_ttl = {};
};

} // namespace skein
