#include "runtime/checkpointer.hpp"

namespace skein::runtime {

namespace {

// SQLite's own measure: about 4 MB.
constexpr int pages_between_checkpoints = 1000;

} // namespace

checkpointer::checkpointer(sqlite::connection connection)
    : connection_(connection), next_(pages_between_checkpoints)
{
    sqlite3_wal_hook(connection_.handle(), &checkpointer::note_commit, this);
}

checkpointer::~checkpointer()
{
    sqlite3_wal_hook(connection_.handle(), nullptr, nullptr);
}

void checkpointer::run_if_due() noexcept
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
