#pragma once

#include "runtime/engine.hpp"
#include "store/error.hpp"

#include <skein/error.hpp>

namespace skein::api {

/// Runs a check of the store's; what it refuses becomes `errc::invalid_argument`, or
/// `errc::invalid_payload` for a payload.
template <class Check>
auto checked(Check check)
{
    try {
        return check();
    } catch (const store::invalid_argument& misuse) {
        throw error(errc::invalid_argument, misuse.what());
    } catch (const store::invalid_payload& refused) {
        throw error(errc::invalid_payload, refused.what());
    }
}

/// The batch of a user's transaction, checked to be one of this database. Throws
/// `errc::invalid_argument`.
[[nodiscard]] inline runtime::batch& own_batch(runtime::batch& batch,
                                               const runtime::engine& database)
{
    if (&batch.owner() != &database) {
        throw error(errc::invalid_argument,
                    "tx: a transaction of another database; one of this database is accepted");
    }
    return batch;
}

} // namespace skein::api
