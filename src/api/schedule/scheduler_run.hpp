#pragma once

#include "api/schedule/scheduler_state.hpp"

#include <asio/awaitable.hpp>

#include <memory>

namespace skein::api {

/// Ticks without end; see `scheduler::run`.
[[nodiscard]] asio::awaitable<void> run_scheduler(std::shared_ptr<const scheduler_state> where);

} // namespace skein::api
