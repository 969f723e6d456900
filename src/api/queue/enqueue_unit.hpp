#pragma once

#include "api/queue/queue_state.hpp"
#include "runtime/unit.hpp"

#include <skein/queue.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// Adds jobs to a queue: all of them or none. The result are their numbers.
class enqueue_unit final : public runtime::unit {
public:
    using result_type = std::vector<std::int64_t>;

    /// Throws `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large`.
    enqueue_unit(std::shared_ptr<const queue_state> where, std::span<const new_job> jobs);

    void run(runtime::batch& batch) override;

    std::vector<std::int64_t> result;

private:
    std::shared_ptr<const queue_state> where_;
    std::string payloads_; ///< one behind the other
    std::vector<store::new_job> jobs_;
};

} // namespace skein::api
