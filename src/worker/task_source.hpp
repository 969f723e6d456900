#pragma once

#include "runtime/engine.hpp"
#include "runtime/waiter.hpp"
#include "worker/task.hpp"

#include <skein/clock.hpp>
#include <skein/handler.hpp>

#include <asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skein::worker {

/// A claim, and what it has got once it is complete.
struct task_claim {
    std::shared_ptr<runtime::operation> wanted;
    std::function<std::vector<std::shared_ptr<task>>()> take;
};

/// Where a worker has its tasks from, and who handles them. Used on the strand of its run.
class task_source {
public:
    task_source() = default;
    task_source(const task_source&) = delete;
    task_source& operator=(const task_source&) = delete;
    virtual ~task_source() = default;

    [[nodiscard]] virtual const std::shared_ptr<runtime::engine>& engine() const noexcept = 0;
    /// What there is to be claimed, for the log.
    [[nodiscard]] virtual const char* things() const noexcept = 0;
    /// How long the shortest lease holds.
    [[nodiscard]] virtual duration shortest_lease() const noexcept = 0;

    [[nodiscard]] virtual task_claim make_claim(std::size_t most, runtime::patience how_long) = 0;
    [[nodiscard]] virtual asio::awaitable<handled> handle(task& claimed) = 0;

    /// Throws what a result is refused with.
    virtual void check_result(const std::string& /*result*/) const {}
    virtual void note_end(const task& /*ended*/, const verdict& /*how*/, task_end /*end*/) {}
};

} // namespace skein::worker
