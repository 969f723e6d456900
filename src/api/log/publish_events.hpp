#pragma once

#include "api/log/stream_store.hpp"
#include "runtime/unit.hpp"

#include <skein/stream_event.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// Appends events to a topic: all of them or none. The result is their offsets.
class publish_events final : public runtime::unit {
public:
    using result_type = std::vector<std::int64_t>;

    /// Throws `errc::invalid_payload` and `errc::payload_too_large`.
    publish_events(std::shared_ptr<const stream_state> where, std::span<const new_event> events);

    void run(runtime::batch& batch) override;

    std::vector<std::int64_t> result;

private:
    struct owned_event {
        std::optional<std::string> key;
        std::string payload;
    };

    std::shared_ptr<const stream_state> where_;
    std::vector<owned_event> events_;
};

} // namespace skein::api
