#pragma once

#include "api/log/relay_state.hpp"

#include <skein/relay.hpp>

#include <asio/awaitable.hpp>

#include <memory>

namespace skein::api {

/// Hands events to the sink until it is cancelled; see `relay::run`.
[[nodiscard]] asio::awaitable<void> run_relay(std::shared_ptr<const relay_state> state,
                                              relay::sink sink);

} // namespace skein::api
