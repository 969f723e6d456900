#pragma once

#include "api/transport/message_lease.hpp"
#include "runtime/event_sink.hpp"
#include "runtime/waiter.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// A claim of at least one message.
class claim_waiter final : public runtime::waiter {
public:
    using result_type = std::vector<message>;

    /// Throws `errc::invalid_argument`.
    claim_waiter(std::shared_ptr<const transport_state> where, std::size_t most,
                 const claim_options& options, runtime::patience how_long);

    runtime::source& origin() const noexcept override { return *where_->source; }
    const std::string& accepts() const noexcept override { return accepts_; }
    bool has_work(sqlite::connection connection, clock::wall_time now) override;
    runtime::serving serve(runtime::batch& batch, std::span<waiter* const> line) override;
    void committed() override;

    std::vector<message> result;

private:
    void tell_claims(runtime::event_sink& told) const;
    void ask(std::size_t share, std::vector<store::claim_request>& requests) const;
    std::span<store::claimed_message> take(std::size_t share,
                                           std::span<store::claimed_message> claimed);

    std::shared_ptr<const transport_state> where_;
    std::size_t most_;
    std::string worker_;
    store::claim_filter filter_;
    double visibility_; ///< seconds
    std::string accepts_;
    std::vector<store::claimed_message> claimed_;
};

} // namespace skein::api
