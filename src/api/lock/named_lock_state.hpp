#pragma once

#include "api/family_store.hpp"
#include "runtime/engine.hpp"
#include "store/lock/lock_schema.hpp"
#include "store/lock/named_locks.hpp"

#include <skein/named_lock.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace skein::api {

using lock_store = table_store<family_tables<store::named_locks, store::lock_tables>>;

/// What a `named_lock` refers to.
struct named_lock_state {
    std::shared_ptr<runtime::engine> engine;
    std::shared_ptr<lock_store> store;
    std::string name;
    std::string owner;
    std::int64_t ttl = 0; ///< seconds
    bool create_schema = true;

    /// The tables, for writing.
    [[nodiscard]] store::named_locks& ready(runtime::batch& batch) const
    {
        return store->ready(batch, create_schema);
    }
};

/// Throws `errc::invalid_argument`.
[[nodiscard]] std::shared_ptr<const named_lock_state>
make_named_lock_state(std::shared_ptr<runtime::engine> engine, std::string_view name,
                      const lock_options& options);

} // namespace skein::api
