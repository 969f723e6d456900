#pragma once

#include "api/family_store.hpp"
#include "runtime/engine.hpp"
#include "store/rate_limit/paced_limits.hpp"
#include "store/rate_limit/rate_limit_schema.hpp"
#include "store/rate_limit/rate_limits.hpp"

#include <skein/rate_limit.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skein::api {

/// The prepared statements of both kinds of limits.
struct rate_limit_statements {
    rate_limit_statements(sqlite::connection connection, store::family_shape /*shape*/)
        : windows(connection), paced(connection)
    {
    }

    store::rate_limits windows;
    store::paced_limits paced;
};

using rate_limit_store =
    table_store<family_tables<rate_limit_statements, store::rate_limit_tables>>;

/// What all limits of one database share.
[[nodiscard]] std::shared_ptr<rate_limit_store> rate_limit_store_of(runtime::engine& engine);

/// What has come of asking for a permit.
struct permit_answer {
    bool is_taken = false;
    clock::wall_time next_free; ///< of the next one; only told when there was none
};

/// What a `rate_limit` handle refers to.
struct rate_limit_state {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<rate_limit_store> store;
    std::string name;
    std::int64_t permits = 0;
    std::int64_t per = 0;                   ///< seconds
    std::optional<store::pace> wanted_pace; ///< of one that is paced
    bool create_schema = true;
    std::string accepts; ///< one text for each name with its options

    /// When to ask for a permit, as a look without any lock tells it; nothing: now. Only reads.
    [[nodiscard]] std::optional<clock::wall_time> look(rate_limit_statements& there,
                                                       clock::wall_time now) const;

    /// Takes a permit if there is one.
    [[nodiscard]] permit_answer take(runtime::batch& batch) const;

private:
    [[nodiscard]] permit_answer take_paced(runtime::batch& batch) const;
    [[nodiscard]] permit_answer take_in_window(runtime::batch& batch) const;
};

/// Throws `errc::invalid_argument`.
[[nodiscard]] std::shared_ptr<const rate_limit_state>
make_rate_limit_state(std::shared_ptr<runtime::engine> engine, std::string_view name,
                      const rate_limit_options& options);

} // namespace skein::api
