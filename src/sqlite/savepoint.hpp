#pragma once

#include "sqlite/statement.hpp"

#include <string>

namespace skein::sqlite {

/// A savepoint that is used again and again: what runs inside it happens whole or not at all.
class savepoint {
public:
    /// `name` is an identifier that nobody else on the connection uses.
    savepoint(connection owner, const std::string& name);

    void begin() { begin_.run(); }
    void release() { release_.run(); }
    /// Undoes everything since `begin` and ends the savepoint.
    void undo();

    /// Runs `work` inside it: a throw undoes what it did, and goes on.
    template <class Work>
    auto run(Work work)
    {
        begin();
        try {
            auto result = work();
            release();
            return result;
        } catch (...) {
            undo_if_possible();
            throw;
        }
    }

private:
    void undo_if_possible() noexcept;

    statement begin_;
    statement release_;
    statement rollback_;
};

} // namespace skein::sqlite
