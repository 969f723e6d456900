#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>

namespace skein::store {

/// Sees to it that a live job can become a dead letter. Its number may be taken by one: other
/// programs put letters back into the queue and leave them where they are, or restore them from
/// elsewhere. Nobody could claim from the queue any more if such a job could not die.
class dead_letter_room {
public:
    explicit dead_letter_room(sqlite::connection connection);

    /// Gives the letter that has the number of this live job one that nobody has had; the job dies
    /// under its own, by which it is waited for. Nothing happens when there is no such letter, or
    /// no such job. Wants a write transaction with a savepoint.
    void make(std::int64_t id);

private:
    sqlite::statement find_;
    sqlite::statement move_;
    sqlite::statement count_;
};

} // namespace skein::store
