#pragma once

#include "runtime/operation.hpp"

#include <skein/clock.hpp>

#include <optional>

namespace SQLite {
class Database;
}

namespace skein::runtime {

/// An operation that only reads, between two batches.
class reading : public operation {
public:
    /// Looks at one consistent state of the file.
    virtual void run(const SQLite::Database& database) = 0;

    void arrive(engine& engine, std::shared_ptr<operation> self) override;
    bool withdraw(engine& engine) override;

    /// Since when it has waited for a lock that another process holds.
    std::optional<clock::steady_time> locked_since;
};

} // namespace skein::runtime
