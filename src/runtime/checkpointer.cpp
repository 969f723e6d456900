#include "runtime/checkpointer.hpp"

#include "sqlite/statement.hpp"

#include <utility>

namespace skein::runtime {

namespace {

// About 16 MB. SQLite's own measure is a quarter of it; but a batch can change a thousand pages,
// mostly those that the one before has changed, and they are moved once for all of them.
constexpr int pages_between_checkpoints = 4000;

constexpr std::int64_t megabyte = std::int64_t{1024} * 1024;

// Larger than what a burst leaves behind, and small beside a disk.
constexpr std::int64_t first_warning = 64 * megabyte;

std::int64_t page_size_of(sqlite::connection connection)
{
    sqlite::statement read(connection, "PRAGMA page_size");
    sqlite::execution once = read.start();
    once.step();
    return once.integer(0);
}

} // namespace

checkpointer::checkpointer(sqlite::connection connection,
                           std::function<void(const std::string&)> warn)
    : connection_(connection), warn_(std::move(warn)), page_size_(page_size_of(connection)),
      next_warning_(first_warning), next_(pages_between_checkpoints)
{
    sqlite3_wal_hook(connection_.handle(), &checkpointer::note_commit, this);
}

checkpointer::~checkpointer()
{
    sqlite3_wal_hook(connection_.handle(), nullptr, nullptr);
}

void checkpointer::run_if_due()
{
    if (pages_ < next_) {
        return;
    }
    int in_log = 0;
    int moved = 0;
    const int code = sqlite3_wal_checkpoint_v2(connection_.handle(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
    // While a reader pins the log, trying again after each commit would only cost.
    const bool is_done = code == SQLITE_OK && moved == in_log;
    next_ = is_done ? pages_between_checkpoints : pages_ + pages_between_checkpoints;
    if (is_done) {
        next_warning_ = first_warning;
    } else if (code == SQLITE_OK) {
        warn_of_growth(in_log);
    }
}

void checkpointer::warn_of_growth(int pages)
{
    const std::int64_t bytes = pages * page_size_;
    if (bytes >= next_warning_) {
        next_warning_ = 2 * bytes;
        warn_("the write-ahead log has grown to " + std::to_string(bytes / megabyte) +
              " MB, because a reader does not come to its end: look for a connection with a SELECT "
              "or a transaction that was begun long ago, of any process");
    }
}

int checkpointer::note_commit(void* self, sqlite3* /*handle*/, const char* /*schema*/, int pages)
{
    auto& owner = *static_cast<checkpointer*>(self);
    if (pages < owner.pages_) {
        owner.next_ = pages_between_checkpoints; // the log was begun anew
    }
    owner.pages_ = pages;
    return SQLITE_OK;
}

} // namespace skein::runtime
