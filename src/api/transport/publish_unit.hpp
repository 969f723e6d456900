#pragma once

#include "api/transport/transport_state.hpp"
#include "runtime/unit.hpp"

#include <skein/transport.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skein::api {

/// Appends messages: all of them or none.
class publish_unit final : public runtime::unit {
public:
    /// Throws `errc::invalid_argument` and `errc::payload_too_large`.
    publish_unit(std::shared_ptr<const transport_state> where,
                 std::span<const publication> publications);

    void run(runtime::batch& batch) override;

private:
    struct owned_publication {
        std::string group;
        std::string payload;
        int priority;
        std::optional<std::string> routing_key;
    };

    std::shared_ptr<const transport_state> where_;
    std::vector<owned_publication> publications_;
};

/// Appends inside a transaction that is open already. Throws as the constructor.
void publish(const transport_state& where, runtime::batch& batch,
             std::span<const publication> publications);

} // namespace skein::api
