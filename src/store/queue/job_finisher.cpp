#include "store/queue/job_finisher.hpp"

#include "store/queue/error_text.hpp"
#include "store/queue/job_burial.hpp"
#include "store/saturating.hpp"

#include <string>

namespace skein::store {

namespace {

const std::string& free_job()
{
    static const std::string set =
        "UPDATE _honker_live SET worker_id = NULL, claim_expires_at = NULL, claimed_at = NULL";
    return set;
}

/// `?4` is a delay and `?5` when it ends.
constexpr const char* after_delay = ", run_at = ?5, state = iif(?4 > 0, 'scheduled', 'pending')";

/// The largest integer has no successor: SQLite would make a floating-point number of it.
constexpr const char* one_more_attempt =
    ", max_attempts = min(max_attempts, 9223372036854775806) + 1";

} // namespace

job_finisher::job_finisher(sqlite::connection connection)
    : room_(connection), ack_(connection, "DELETE FROM _honker_live", unfenced_guard::leased),
      give_back_(connection, free_job() + after_delay, unfenced_guard::processing,
                 " AND attempts < max_attempts"),
      is_exhausted_(connection, "SELECT 1 FROM _honker_live", unfenced_guard::processing,
                    " AND attempts >= max_attempts"),
      bury_exhausted_(connection, dead_letter_insert(4), unfenced_guard::processing,
                      " AND attempts >= max_attempts"),
      fail_(connection, dead_letter_insert(4), unfenced_guard::leased),
      extend_(connection, "UPDATE _honker_live SET claim_expires_at = ?4",
              unfenced_guard::processing),
      release_(connection, free_job() + ", state = 'pending'" + one_more_attempt,
               unfenced_guard::processing),
      snooze_(connection, free_job() + after_delay + one_more_attempt, unfenced_guard::processing),
      remove_(connection, "DELETE FROM _honker_live WHERE id = ?1"),
      find_in_(connection, "SELECT 1 FROM _honker_live WHERE id = ?1 AND queue = ?2")
{
}

bool job_finisher::ack(const job_fence& fence, std::int64_t now)
{
    return ack_.run(fence, now);
}

retry_outcome job_finisher::retry(const job_fence& fence, std::int64_t delay,
                                  std::string_view error, std::int64_t now)
{
    if (give_back(fence, delay, now)) {
        return retry_outcome::waiting;
    }
    return bury_exhausted(fence, error, now) ? retry_outcome::dead : retry_outcome::stale;
}

bool job_finisher::give_back(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    return give_back_.run(fence, now, delay, saturating_add(now, delay));
}

bool job_finisher::is_exhausted(const job_fence& fence, std::int64_t now)
{
    return is_exhausted_.finds(fence, now);
}

bool job_finisher::bury_exhausted(const job_fence& fence, std::string_view error, std::int64_t now)
{
    room_.make(fence.id);
    return remove_buried(fence.id, bury_exhausted_.run(fence, now, kept_error_text(error), now));
}

bool job_finisher::fail(const job_fence& fence, std::string_view error, std::int64_t now)
{
    room_.make(fence.id);
    return remove_buried(fence.id, fail_.run(fence, now, kept_error_text(error), now));
}

bool job_finisher::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    return extend_.run(fence, now, saturating_add(now, seconds));
}

bool job_finisher::release(const job_fence& fence, std::int64_t now)
{
    return release_.run(fence, now);
}

bool job_finisher::snooze(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    return snooze_.run(fence, now, delay, saturating_add(now, delay));
}

bool job_finisher::is_in(std::string_view queue, std::int64_t id)
{
    return find_in_.start(id, queue).step();
}

bool job_finisher::remove_buried(std::int64_t id, bool is_buried)
{
    if (is_buried) {
        remove_.run(id);
    }
    return is_buried;
}

} // namespace skein::store
