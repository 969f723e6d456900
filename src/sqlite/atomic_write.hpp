#pragma once

#include "sqlite/savepoint.hpp"

#include <string>

namespace skein::sqlite {

/// Writes that happen whole or not at all, used again and again: in the transaction that is open on
/// the connection, or in one of their own.
class atomic_write {
public:
    /// `name` is an identifier that nobody else on the connection uses.
    atomic_write(connection owner, const std::string& name)
        : connection_(owner), begin_(owner, "BEGIN IMMEDIATE"), commit_(owner, "COMMIT"),
          rollback_(owner, "ROLLBACK"), savepoint_(owner, name)
    {
    }

    /// Runs `work`: a throw undoes what it did, and goes on.
    template <class Work>
    auto run(Work work)
    {
        return connection_.in_transaction() ? savepoint_.run(work) : run_alone(work);
    }

private:
    template <class Work>
    auto run_alone(Work& work)
    {
        // The lock first: what is looked at is then what is written to.
        begin_.run();
        try {
            auto result = work();
            commit_.run();
            return result;
        } catch (...) {
            undo_if_possible();
            throw;
        }
    }

    void undo_if_possible() noexcept;

    connection connection_;
    statement begin_;
    statement commit_;
    statement rollback_;
    savepoint savepoint_;
};

} // namespace skein::sqlite
