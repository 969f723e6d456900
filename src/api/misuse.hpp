#pragma once

#include "store/error.hpp"

#include <skein/error.hpp>

namespace skein::api {

/// Runs a check of the store's; what it refuses becomes `errc::invalid_argument`.
template <class Check>
auto checked(Check check)
{
    try {
        return check();
    } catch (const store::invalid_argument& misuse) {
        throw error(errc::invalid_argument, misuse.what());
    }
}

} // namespace skein::api
