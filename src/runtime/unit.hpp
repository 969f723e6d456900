#pragma once

#include "runtime/batch.hpp"
#include "runtime/operation.hpp"

#include <optional>

namespace skein::runtime {

/// How a unit is kept apart from the others of its batch.
enum class isolation {
    statement, ///< it is one statement, which SQLite makes atomic
    savepoint, ///< it is several
    callback,  ///< it runs a user's code, which may leave anything behind
};

/// An operation that writes: it becomes part of a batch.
class unit : public operation {
public:
    explicit unit(isolation kind) : isolation_(kind) {}

    [[nodiscard]] isolation how_isolated() const noexcept { return isolation_; }

    /// Does the work, inside the batch's transaction. A throw undoes this unit alone.
    virtual void run(batch& batch) = 0;

    void arrive(engine& engine, std::shared_ptr<operation> self) override;
    bool withdraw(engine& engine) override;

    /// Since when it has waited for a lock that another process holds.
    std::optional<clock::steady_time> locked_since;

private:
    isolation isolation_;
};

} // namespace skein::runtime
