#pragma once

#include "api/lock/held_lock.hpp"

#include <asio/awaitable.hpp>

#include <memory>

namespace skein::api {

/// Runs `work`, and cancels it when the lock is lost; see `lock_guard::run`.
[[nodiscard]] asio::awaitable<void> run_guarded(std::shared_ptr<held_lock> held,
                                                asio::awaitable<void> work);

} // namespace skein::api
