#pragma once

#include "runtime/operation.hpp"

namespace skein::runtime {

/// The wait for a database to be closed. It cannot be cancelled.
class closing final : public operation {
public:
    void arrive(engine& /*engine*/, std::shared_ptr<operation> /*self*/) override {}
    bool withdraw(engine& /*engine*/) override { return false; }
};

} // namespace skein::runtime
