#include "sqlite/savepoint.hpp"

namespace skein::sqlite {

savepoint::savepoint(connection owner, const std::string& name)
    : begin_(owner, "SAVEPOINT " + name), release_(owner, "RELEASE " + name),
      rollback_(owner, "ROLLBACK TO " + name)
{
}

void savepoint::undo()
{
    rollback_.run();
    release_.run();
}

/// SQLite may have ended the whole transaction already; the first error is the one to be told.
void savepoint::undo_if_possible() noexcept
{
    try {
        undo();
    } catch (const error&) {
    }
}

} // namespace skein::sqlite
