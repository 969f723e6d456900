#include <skein/transaction.hpp>

#include "runtime/batch.hpp"

namespace skein {

SQLite::Database& transaction::database() const noexcept
{
    return batch_.database();
}

} // namespace skein
