#include "store/queue_client.hpp"

#include "store/queue/queue_schema.hpp"

namespace skein::store {

queue_client::queue_client(const std::filesystem::path& path)
    : file_(path), enqueuer_(sqlite::connection(prepared(file_).handle())), claimer_(connection()),
      forecast_(connection()), finisher_(connection()), canceller_(connection()),
      housekeeping_(connection())
{
}

support::plain_connection& queue_client::prepared(support::plain_connection& file)
{
    file.sql("PRAGMA journal_mode = wal; BEGIN IMMEDIATE");
    create_queue(sqlite::connection(file.handle()), 0);
    file.sql("COMMIT");
    return file;
}

std::int64_t queue_client::enqueue(const new_job& job, std::int64_t now)
{
    require_job(job);
    return write([&] { return enqueuer_.enqueue(job, now); });
}

std::int64_t queue_client::enqueue(std::string_view payload, std::int64_t now)
{
    return enqueue({.queue = "q", .payload = payload}, now);
}

std::optional<claimed_job> queue_client::claim(std::int64_t now, std::int64_t visibility,
                                               std::string_view worker)
{
    std::vector<claimed_job> claimed = claim_many(1, now, visibility, worker);
    return claimed.empty() ? std::nullopt : std::optional(std::move(claimed.front()));
}

std::vector<claimed_job> queue_client::claim_many(std::int64_t most, std::int64_t now,
                                                  std::int64_t visibility, std::string_view worker)
{
    return write([&] { return claimer_.claim({"q", worker, visibility}, most, now); });
}

job_claimer::some_jobs queue_client::claim_some(std::int64_t most, std::int64_t now)
{
    return write([&] { return claimer_.claim_some({"q", "w", 30}, most, now); });
}

std::string queue_client::claim_payload(std::int64_t now, std::int64_t visibility)
{
    const std::optional<claimed_job> claimed = claim(now, visibility);
    return claimed ? claimed->payload : "none";
}

std::int64_t queue_client::sweep_expired(std::int64_t now)
{
    return write([&] { return housekeeping_.sweep_expired("q", now); });
}

bool queue_client::ack(const job_fence& fence, std::int64_t now)
{
    return write([&] { return finisher_.ack(fence, now); });
}

retry_outcome queue_client::retry(const job_fence& fence, std::int64_t delay,
                                  std::string_view error, std::int64_t now)
{
    return write([&] { return finisher_.retry(fence, delay, error, now); });
}

bool queue_client::fail(const job_fence& fence, std::string_view error, std::int64_t now)
{
    return write([&] { return finisher_.fail(fence, error, now); });
}

bool queue_client::extend(const job_fence& fence, std::int64_t seconds, std::int64_t now)
{
    return write([&] { return finisher_.extend(fence, seconds, now); });
}

bool queue_client::release(const job_fence& fence, std::int64_t now)
{
    return write([&] { return finisher_.release(fence, now); });
}

bool queue_client::snooze(const job_fence& fence, std::int64_t delay, std::int64_t now)
{
    return write([&] { return finisher_.snooze(fence, delay, now); });
}

bool queue_client::cancel(std::int64_t id)
{
    return write([&] { return canceller_.cancel(id); });
}

bool queue_client::cancel(std::string_view queue, std::int64_t id)
{
    return write([&] { return canceller_.cancel(queue, id); });
}

std::string queue_client::live(std::int64_t id, const std::string& columns) const
{
    const auto rows =
        file_.sql("SELECT " + columns + " FROM _honker_live WHERE id = " + std::to_string(id));
    return rows.empty() ? "" : rows.front();
}

std::string queue_client::dead(std::int64_t id, const std::string& columns) const
{
    const auto rows =
        file_.sql("SELECT " + columns + " FROM _honker_dead WHERE id = " + std::to_string(id));
    return rows.empty() ? "" : rows.front();
}

job_fence unfenced(const job_fence& fence)
{
    return {fence.id, fence.worker_id};
}

} // namespace skein::store
