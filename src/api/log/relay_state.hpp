#pragma once

#include "api/lock/named_lock_state.hpp"
#include "api/log/stream_store.hpp"

#include <skein/clock.hpp>

#include <memory>
#include <string>

namespace skein::api {

/// What a `relay` refers to.
struct relay_state {
    std::shared_ptr<const stream_state> topic;
    std::shared_ptr<const named_lock_state> lock; ///< who has it works
    std::string name;                             ///< the consumer's
    clock::steady_time::duration first_pause;
    clock::steady_time::duration longest_pause;
};

} // namespace skein::api
