#pragma once

#include "api/queue/job_arguments.hpp"
#include "api/queue/queue_state.hpp"
#include "runtime/unit.hpp"

#include <skein/queue.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// Adds jobs to a queue: all of them or none.
class enqueue_unit final : public runtime::unit {
public:
    using result_type = std::vector<enqueued_job>;

    /// Throws `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large`.
    enqueue_unit(std::shared_ptr<const queue_state> where, std::span<const new_job> jobs);

    void run(runtime::batch& batch) override;

    std::vector<enqueued_job> result;

private:
    [[nodiscard]] std::string_view kept(std::string_view text);
    void keep(std::optional<std::string_view>& text);
    [[nodiscard]] enqueued_job enqueue(runtime::batch& batch, const job_request& wanted) const;
    void note_created(runtime::batch& batch) const;
    void make_tables_of(runtime::batch& batch, const store::job_keys& keys) const;

    std::shared_ptr<const queue_state> where_;
    std::string texts_; ///< payloads and keys, one behind the other
    std::vector<job_request> jobs_;
};

} // namespace skein::api
