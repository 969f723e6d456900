#pragma once

#include <memory>

namespace skein::extension {

class host;

/// Has the host release its statements when its connection is about to be closed: one that has
/// unfinished business is not closed, or only in name. SQLite tells nobody of it but the tables of
/// modules, so there is an empty one of ours, `skein_at_close`, in no schema. Throws
/// `sqlite::error`.
void release_at_close(const std::shared_ptr<host>& where);

} // namespace skein::extension
