#include "raw_queue.hpp"

#include <ctime>
#include <utility>
#include <vector>

namespace benchmarks {

namespace {

void run(SQLite::Statement& statement)
{
    statement.exec();
    statement.reset();
}

std::string claim_text(const std::string& id_is)
{
    return "UPDATE _honker_live SET state = 'processing', worker_id = ?4, claim_expires_at = ?5,"
           " claimed_at = ?2, attempts = attempts + 1 WHERE id " +
           id_is +
           " (SELECT id FROM _honker_live INDEXED BY _honker_live_ready WHERE state = 'pending'"
           " AND queue = ?1 AND run_at <= ?2 AND attempts < max_attempts AND"
           " (expires_at IS NULL OR expires_at > ?2) ORDER BY priority DESC, run_at, id LIMIT ?3)"
           " RETURNING id, payload, attempts, max_attempts, priority, run_at";
}

} // namespace

raw_queue::raw_queue(const std::string& path, skein::durability level)
    : database_(path, SQLite::OPEN_READWRITE), begin_(database_, "BEGIN IMMEDIATE"),
      commit_(database_, "COMMIT"),
      insert_(database_, "INSERT INTO _honker_live (queue, payload, state, priority, run_at,"
                         " max_attempts, created_at) VALUES ('q', ?1, 'pending', 0, ?2, 3, ?2)"),
      chores_(database_,
              "SELECT EXISTS (SELECT 1 FROM _honker_live INDEXED BY _honker_live_scheduled"
              " WHERE state = 'scheduled' AND queue = ?1 AND run_at <= ?2), EXISTS (SELECT 1"
              " FROM _honker_live WHERE queue = ?1 AND expires_at <= ?2), EXISTS (SELECT 1"
              " FROM _honker_live INDEXED BY _honker_live_processing_deadline WHERE"
              " state = 'processing' AND queue = ?1 AND claim_expires_at < ?2)"),
      claim_one_(database_, claim_text("=")), claim_many_(database_, claim_text("IN")),
      ack_(database_, "DELETE FROM _honker_live WHERE id = ?1 AND worker_id = 'w' AND"
                      " attempts = ?2 AND state = 'processing'")
{
    database_.exec(level == skein::durability::full ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
    // As skein's. Otherwise it would make the checkpoints for both.
    database_.exec("PRAGMA cache_size = -16384");
    database_.exec("PRAGMA wal_autocheckpoint = 4000");
}

void raw_queue::enqueue(std::size_t jobs, const std::string& payload)
{
    run(begin_);
    for (std::size_t each = 0; each < jobs; ++each) {
        insert_.bindNoCopy(1, payload);
        insert_.bind(2, static_cast<std::int64_t>(std::time(nullptr)));
        run(insert_);
    }
    run(commit_);
}

void raw_queue::claim_and_ack(std::size_t jobs)
{
    const auto now = static_cast<std::int64_t>(std::time(nullptr));
    std::vector<std::pair<std::int64_t, std::int64_t>> claimed;
    run(begin_);
    chores_.bind(1, "q");
    chores_.bind(2, now);
    chores_.executeStep();
    chores_.reset();
    SQLite::Statement& claim = jobs == 1 ? claim_one_ : claim_many_;
    claim.bind(1, "q");
    claim.bind(2, now);
    claim.bind(3, static_cast<std::int64_t>(jobs));
    claim.bind(4, "w");
    claim.bind(5, now + 300);
    while (claim.executeStep()) {
        const std::string payload = claim.getColumn(1).getString();
        claimed.emplace_back(claim.getColumn(0).getInt64(), claim.getColumn(2).getInt64());
    }
    claim.reset();
    run(commit_);
    run(begin_);
    for (const auto& [id, attempts] : claimed) {
        ack_.bind(1, id);
        ack_.bind(2, attempts);
        run(ack_);
    }
    run(commit_);
}

} // namespace benchmarks
