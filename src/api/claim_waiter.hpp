#pragma once

#include "api/message_lease.hpp"
#include "runtime/waiter.hpp"

#include <memory>
#include <optional>
#include <string>

namespace skein::api {

/// A claim of one message.
class claim_waiter final : public runtime::waiter {
public:
    using result_type = std::optional<message>;

    /// Throws `errc::invalid_argument`.
    claim_waiter(std::shared_ptr<const transport_state> where, const claim_options& options,
                 runtime::patience how_long);

    runtime::source& origin() const noexcept override { return *where_->source; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    std::size_t serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void committed() override;

    std::optional<message> result;

private:
    std::shared_ptr<const transport_state> where_;
    std::string worker_;
    store::claim_filter filter_;
    double visibility_; ///< seconds
    std::string accepts_;
    std::optional<store::claimed_message> claimed_;
};

} // namespace skein::api
