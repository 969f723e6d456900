#include "store/queue/queue_housekeeping.hpp"

namespace skein::store {

namespace {

// Of each kind, in one claim.
constexpr int most_at_once = 1000;
constexpr int all = -1;

constexpr const char* due = "FROM _honker_live INDEXED BY _honker_live_scheduled"
                            " WHERE state = 'scheduled' AND queue = ?1 AND run_at <= ?2";

// It is the entries that are counted, not those that are chosen: otherwise jobs that have expired
// in the hands of their workers would be walked over again and again.
constexpr const char* expired =
    "FROM (SELECT id, state, claim_expires_at FROM _honker_live"
    " WHERE queue = ?1 AND expires_at <= ?2 ORDER BY expires_at, id LIMIT ?3)"
    " WHERE state IN ('pending', 'scheduled') OR (state = 'processing' AND claim_expires_at < ?2)";

constexpr const char* lapsed =
    "FROM _honker_live INDEXED BY _honker_live_processing_deadline"
    " WHERE state = 'processing' AND queue = ?1 AND claim_expires_at < ?2";

std::string exists(const char* what)
{
    return std::string("EXISTS (SELECT 1 ") + what + ")";
}

} // namespace

queue_housekeeping::queue_housekeeping(sqlite::connection connection)
    : burial_(connection),
      look_(connection, "SELECT " + exists(due) + ", " + exists(expired) + ", " + exists(lapsed)),
      make_ready_(connection, "UPDATE _honker_live SET state = 'pending' WHERE id IN (SELECT id " +
                                  std::string(due) + " ORDER BY run_at, id LIMIT ?3)"),
      choose_expired_(connection, "SELECT id " + std::string(expired)),
      choose_lapsed_expired_(connection, "SELECT id " + std::string(lapsed) +
                                             " AND expires_at <= ?2"
                                             " ORDER BY claim_expires_at, id LIMIT ?3"),
      choose_exhausted_(connection, "SELECT id " + std::string(lapsed) +
                                        " AND attempts >= max_attempts"
                                        " ORDER BY claim_expires_at, id LIMIT ?3")
{
}

queue_housekeeping::chores queue_housekeeping::look(std::string_view queue, std::int64_t now)
{
    sqlite::execution found = look_.start(queue, now, most_at_once);
    found.step();
    chores there_is;
    there_is.due = found.integer(0) != 0;
    there_is.expired = found.integer(1) != 0;
    there_is.lapsed = found.integer(2) != 0;
    return there_is;
}

queue_housekeeping::chores queue_housekeeping::run(std::string_view queue, std::int64_t now)
{
    chores there_is = look(queue, now);
    buried_ = {};
    if (there_is.due) {
        there_is.more_due = make_ready_.run(queue, now, most_at_once) == most_at_once;
    }
    if (there_is.expired) {
        const std::int64_t buried =
            bury(choose_expired_.start(queue, now, most_at_once), expired_error, now);
        there_is.more_expired = buried == most_at_once;
    }
    if (there_is.lapsed) {
        // Those, too, that were not among the first that have expired: no claim takes them, and
        // while they are there, each look would find something to do.
        bury(choose_lapsed_expired_.start(queue, now, most_at_once), expired_error, now);
        bury(choose_exhausted_.start(queue, now, most_at_once), exhausted_error, now);
    }
    return there_is;
}

std::int64_t queue_housekeeping::sweep_expired(std::string_view queue, std::int64_t now)
{
    buried_ = {};
    return bury(choose_expired_.start(queue, now, all), expired_error, now);
}

std::int64_t queue_housekeeping::bury(sqlite::execution chosen, std::string_view error,
                                      std::int64_t now)
{
    // All of them before the first is moved: that changes what is being walked through.
    const std::size_t first = buried_.size();
    while (chosen.step()) {
        buried_.push_back({chosen.integer(0), error});
    }
    for (std::size_t each = first; each != buried_.size(); ++each) {
        burial_.bury(buried_[each].id, error, now);
    }
    return static_cast<std::int64_t>(buried_.size() - first);
}

} // namespace skein::store
