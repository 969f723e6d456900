#pragma once

#include "sqlite/connection.hpp"

namespace skein::runtime {

/// Moves what is in the write-ahead log into the database file, a little at a time and between
/// batches: SQLite's own way does it inside the commit that happens to come at the wrong moment.
class checkpointer {
public:
    explicit checkpointer(sqlite::connection connection);
    checkpointer(const checkpointer&) = delete;
    checkpointer& operator=(const checkpointer&) = delete;
    ~checkpointer();

    /// Makes a checkpoint if the log has grown enough. It waits for nobody: what readers still need
    /// is left for the next time.
    void run_if_due() noexcept;

private:
    static int note_commit(void* self, sqlite3* handle, const char* schema, int pages);

    sqlite::connection connection_;
    int pages_ = 0; ///< in the log, after our last commit
    int next_ = 0;  ///< at how many pages the next checkpoint is due
};

} // namespace skein::runtime
