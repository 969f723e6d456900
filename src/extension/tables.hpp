#pragma once

namespace skein::extension {

class host;

/// Makes the tables of notifications, which programs expect to be there once the extension is
/// loaded. Does nothing where the table is there, or the file cannot be written. Throws
/// `sqlite::error`.
void make_notification_tables(host& where);

} // namespace skein::extension
