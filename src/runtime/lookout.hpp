#pragma once

#include "runtime/waitlist.hpp"
#include "sqlite/connection.hpp"

#include <skein/clock.hpp>

#include <string>
#include <utility>

namespace skein::runtime {

/// Looks into the file for the lines that wait, without the write lock, and settles those for which
/// there is nothing. It refers to all that it is given; the strand alone uses it.
///
/// Its functions throw `sqlite::error` when another process keeps them from reading; with any other
/// failure the line that met it fails.
class lookout {
public:
    lookout(waitlist& waiting, sqlite::connection connection, skein::clock& clock, std::string file)
        : waiting_(waiting), connection_(connection), clock_(clock), file_(std::move(file))
    {
    }

    /// Whether some line may find something to take.
    [[nodiscard]] bool any_has_work();

    /// Lines that only read see what has been committed, and fail with no batch.
    void tell_readers();

private:
    bool probe(line& each);
    bool look(line& each);
    void tell_all(line& told);

    waitlist& waiting_;
    sqlite::connection connection_;
    skein::clock& clock_;
    const std::string file_;
};

} // namespace skein::runtime
