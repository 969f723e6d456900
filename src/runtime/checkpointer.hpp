#pragma once

#include "sqlite/connection.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace skein::runtime {

/// Moves what is in the write-ahead log into the database file, a little at a time and between
/// batches: SQLite's own way does it inside the commit that happens to come at the wrong moment.
class checkpointer {
public:
    /// `warn` is told when the log grows because somebody reads without an end: once when it is
    /// large, and again each time that it has doubled.
    checkpointer(sqlite::connection connection, std::function<void(const std::string&)> warn);
    checkpointer(const checkpointer&) = delete;
    checkpointer& operator=(const checkpointer&) = delete;
    ~checkpointer();

    /// Makes a checkpoint if the log has grown enough. It waits for nobody: what readers still need
    /// is left for the next time.
    void run_if_due();

private:
    static int note_commit(void* self, sqlite3* handle, const char* schema, int pages);
    void warn_of_growth(int pages);

    sqlite::connection connection_;
    std::function<void(const std::string&)> warn_;
    std::int64_t page_size_;    ///< in bytes
    std::int64_t next_warning_; ///< at how many bytes in the log
    int pages_ = 0;             ///< in the log, after our last commit
    int next_ = 0;              ///< at how many pages the next checkpoint is due
};

} // namespace skein::runtime
