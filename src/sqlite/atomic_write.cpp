#include "sqlite/atomic_write.hpp"

namespace skein::sqlite {

/// SQLite may have ended the transaction already; the first error is the one to be told.
void atomic_write::undo_if_possible() noexcept
{
    try {
        if (connection_.in_transaction()) {
            rollback_.run();
        }
    } catch (const error&) { // NOLINT(bugprone-empty-catch): see above
    }
}

} // namespace skein::sqlite
