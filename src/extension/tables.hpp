#pragma once

#include "store/table_family.hpp"

namespace skein::extension {

class host;

/// Makes the tables of notifications, which programs expect to be there once the extension is
/// loaded. Does nothing where the table is there, or the file cannot be written. Throws
/// `sqlite::error`.
void make_notification_tables(host& where);

/// Makes the tables of what only some queues use, inside the caller's savepoint. Does nothing where
/// they are there.
void make_tables(host& where, const store::table_family& family);

} // namespace skein::extension
