#pragma once

#include <asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace skein::api {

// The library runs coroutines and callbacks without a result; what they return waits in a slot.

/// Runs `work` and keeps what it returns.
template <class Result>
asio::awaitable<void> keep_result(asio::awaitable<Result> work,
                                  std::shared_ptr<std::optional<Result>> slot)
{
    slot->emplace(co_await std::move(work));
}

/// Awaits `done` and returns what has been kept meanwhile.
template <class Result>
asio::awaitable<Result> take_result(asio::awaitable<void> done,
                                    std::shared_ptr<std::optional<Result>> slot)
{
    co_await std::move(done);
    co_return std::move(**slot);
}

} // namespace skein::api
