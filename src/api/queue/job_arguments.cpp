#include "api/queue/job_arguments.hpp"

#include "api/misuse.hpp"
#include "api/queue/due_time.hpp"

namespace skein::api {

namespace {

store::on_conflict stored(on_conflict how) noexcept
{
    switch (how) {
    case on_conflict::skip:
        break;
    case on_conflict::replace_payload:
        return store::on_conflict::replace_payload;
    case on_conflict::move_due_time:
        return store::on_conflict::move_due_time;
    case on_conflict::replace_and_move:
        return store::on_conflict::replace_and_move;
    }
    return store::on_conflict::skip;
}

enqueue_outcome shown(store::enqueue_outcome outcome) noexcept
{
    switch (outcome) {
    case store::enqueue_outcome::created:
        break;
    case store::enqueue_outcome::skipped:
        return enqueue_outcome::skipped;
    case store::enqueue_outcome::changed:
        return enqueue_outcome::changed;
    }
    return enqueue_outcome::created;
}

store::job_keys stored_keys(const enqueue_options& options)
{
    store::job_keys keys;
    if (const unique_options& unique = options.unique; unique.key) {
        keys.unique = {*unique.key, unique.scope == unique_scope::waiting_or_running};
        if (unique.period) {
            keys.unique->period = unique.period->count();
        }
        keys.on_conflict = stored(unique.on_conflict);
    }
    if (options.concurrency.key) {
        keys.limit = {*options.concurrency.key, options.concurrency.limit};
    }
    return keys;
}

} // namespace

job_request checked_job(std::string_view queue, std::string_view payload,
                        const enqueue_options& options, std::int64_t max_attempts)
{
    const due_time due(options.delay, options.run_at);
    job_request wanted{{.queue = queue,
                        .payload = payload,
                        .run_at = due.run_at(),
                        .delay = due.delay(),
                        .priority = options.priority,
                        .max_attempts = options.max_attempts.value_or(max_attempts)},
                       stored_keys(options)};
    if (options.expires_in) {
        wanted.job.expires_in = options.expires_in->count();
    }
    checked([&] {
        store::require_job(wanted.job);
        store::require_keys(wanted.keys);
    });
    return wanted;
}

enqueued_job shown(const store::enqueued_job& done) noexcept
{
    return {done.id, shown(done.outcome)};
}

} // namespace skein::api
