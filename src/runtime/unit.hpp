#pragma once

#include "runtime/batch.hpp"
#include "runtime/operation.hpp"

#include <optional>

namespace skein::runtime {

/// An operation that writes: it becomes part of a batch.
class unit : public operation {
public:
    /// Does the work, inside the batch's transaction. A throw undoes this unit alone.
    ///
    /// Called again, after what it did has been undone, when another unit of the batch has failed;
    /// a user's code is called once.
    virtual void run(batch& batch) = 0;

    /// Whether it runs a user's code, which may leave anything behind.
    [[nodiscard]] virtual bool is_callback() const noexcept { return false; }

    void arrive(engine& engine, std::shared_ptr<operation> self) override;
    bool withdraw(engine& engine) override;

    /// Since when it has waited for a lock that another process holds.
    std::optional<clock::steady_time> locked_since;
};

} // namespace skein::runtime
