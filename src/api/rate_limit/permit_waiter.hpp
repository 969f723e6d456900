#pragma once

#include "api/rate_limit/rate_limit_state.hpp"
#include "runtime/waiter.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace skein::api {

/// Waits for a permit of a limit, and takes it. Each name with its options has a line of its own.
class permit_waiter final : public runtime::waiter {
public:
    using result_type = bool;

    permit_waiter(std::shared_ptr<const rate_limit_state> where, runtime::patience how_long)
        : waiter(how_long), where_(std::move(where))
    {
    }

    runtime::source& origin() const noexcept override { return *where_->store; }
    const std::string& accepts() const noexcept override { return where_->accepts; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::optional<clock::wall_time> look_again() const noexcept override { return next_free_; }
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void committed() override { result = true; }

    bool result = false; ///< whether it has got one

private:
    std::shared_ptr<const rate_limit_state> where_;
    std::optional<clock::wall_time> next_free_; ///< as the last look has told it
};

} // namespace skein::api
