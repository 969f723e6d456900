#pragma once

#include "store/schedule/schedule_request.hpp"

#include <skein/schedule.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace skein::runtime {
class engine;
}

namespace skein::api {

/// A schedule to be added, with texts of its own.
class owned_schedule {
public:
    /// Throws `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large` for
    /// what can be told without the file and without the time.
    owned_schedule(const runtime::engine& database, std::string_view name, std::string_view queue,
                   std::string_view expression, std::string_view payload,
                   const schedule_options& options);

    /// Views of it, good as long as it is.
    [[nodiscard]] store::new_schedule stored() const;

private:
    std::string name_;
    std::string queue_;
    std::string expression_;
    std::string payload_;
    schedule_options options_;
};

/// A change of a schedule, with texts of its own.
class owned_change {
public:
    /// Throws as `owned_schedule`.
    owned_change(const runtime::engine& database, std::string_view name,
                 const schedule_change& change);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Views of it, good as long as it is.
    [[nodiscard]] store::schedule_change stored() const;

private:
    std::string name_;
    std::optional<std::string> expression_;
    std::optional<std::string> payload_;
    schedule_change change_; ///< but for its texts
};

} // namespace skein::api
