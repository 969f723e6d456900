#include "raw_transport.hpp"

#include <vector>

namespace benchmarks {

namespace {

void run(SQLite::Statement& statement)
{
    statement.exec();
    statement.reset();
}

} // namespace

raw_transport::raw_transport(const std::string& path, skein::durability level)
    : database_(path, SQLite::OPEN_READWRITE), begin_(database_, "BEGIN IMMEDIATE"),
      commit_(database_, "COMMIT"),
      insert_group_(database_,
                    "INSERT INTO harel_transport_groups (group_id, priority, routing_key)"
                    " VALUES (?1, 0, NULL) ON CONFLICT (group_id) DO NOTHING"),
      insert_message_(database_,
                      "INSERT INTO harel_transport_messages (group_id, event) VALUES (?1, ?2)"),
      next_group_(
          database_,
          "SELECT rowid, group_id FROM harel_transport_groups"
          " INDEXED BY _skein_harel_free_by_priority WHERE blocked_until IS NULL AND"
          " priority >= 0 AND min(priority, 4) = 0 ORDER BY last_claimed_at, rowid LIMIT 1"),
      head_(database_, "SELECT seq, event, locked_by IS NOT NULL, lock_expiry FROM"
                       " harel_transport_messages WHERE group_id = ?1 ORDER BY seq LIMIT 1"),
      set_claimed_(database_, "UPDATE harel_transport_groups SET last_claimed_at = ?2,"
                              " blocked_until = ?3 WHERE rowid = ?1"),
      lock_(database_,
            "UPDATE harel_transport_messages SET locked_by = ?2, lock_expiry = ?3 WHERE seq = ?1"),
      remove_group_(database_,
                    "DELETE FROM harel_transport_groups WHERE group_id = ?2 AND EXISTS (SELECT 1"
                    " FROM harel_transport_messages WHERE seq = ?1 AND group_id = ?2 AND"
                    " locked_by = ?3) AND NOT EXISTS (SELECT 1 FROM harel_transport_messages WHERE"
                    " group_id = ?2 AND seq <> ?1)"),
      remove_message_(database_, "DELETE FROM harel_transport_messages WHERE seq = ?1 AND"
                                 " group_id = ?2 AND locked_by = ?3")
{
    database_.exec(level == skein::durability::full ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
    // As skein's. Otherwise it would make the checkpoints for both.
    database_.exec("PRAGMA cache_size = -16384");
    database_.exec("PRAGMA wal_autocheckpoint = 4000");
}

void raw_transport::publish(std::size_t messages, const std::string& payload)
{
    run(begin_);
    for (std::size_t each = 0; each < messages; ++each) {
        const std::string group = "group-" + std::to_string(each);
        insert_group_.bindNoCopy(1, group);
        run(insert_group_);
        insert_message_.bindNoCopy(1, group);
        insert_message_.bindNoCopy(2, payload);
        run(insert_message_);
    }
    run(commit_);
}

void raw_transport::claim_and_ack(std::size_t messages)
{
    std::vector<claimed> all;
    run(begin_);
    for (std::size_t each = 0; each < messages; ++each) {
        all.push_back(claim());
    }
    run(commit_);
    run(begin_);
    for (const claimed& each : all) {
        ack(each);
    }
    run(commit_);
}

raw_transport::claimed raw_transport::claim()
{
    claimed message;
    next_group_.executeStep();
    const std::int64_t rowid = next_group_.getColumn(0).getInt64();
    message.group = next_group_.getColumn(1).getString();
    next_group_.reset();

    head_.bindNoCopy(1, message.group);
    head_.executeStep();
    message.seq = head_.getColumn(0).getInt64();
    const std::string payload = head_.getColumn(1).getString();
    head_.reset();

    stamp_ += 1e-3;
    set_claimed_.bind(1, rowid);
    set_claimed_.bind(2, stamp_);
    set_claimed_.bind(3, stamp_ + 1e9);
    run(set_claimed_);

    message.lock = "worker#" + std::to_string(claims_++);
    lock_.bind(1, message.seq);
    lock_.bindNoCopy(2, message.lock);
    lock_.bind(3, stamp_ + 1e9);
    run(lock_);
    return message;
}

void raw_transport::ack(const claimed& message)
{
    for (SQLite::Statement* each : {&remove_group_, &remove_message_}) {
        each->bind(1, message.seq);
        each->bindNoCopy(2, message.group);
        each->bindNoCopy(3, message.lock);
        run(*each);
    }
}

} // namespace benchmarks
