// Jobs with keys: at most one of a key, and at most so many that run.

#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "extension/options.hpp"

#include <array>

namespace skein::extension {

namespace {

constexpr std::array known{"run_at",      "delay_s",         "priority",         "max_attempts",
                           "expires_s",   "unique_key",      "unique_scope",     "unique_period_s",
                           "on_conflict", "concurrency_key", "concurrency_limit"};

enum class unique_scope { waiting, waiting_or_running };

std::string_view name_of(unique_scope scope)
{
    return scope == unique_scope::waiting ? "waiting" : "waiting_or_running";
}

std::string_view name_of(store::on_conflict how)
{
    switch (how) {
    case store::on_conflict::skip:
        break;
    case store::on_conflict::replace_payload:
        return "replace_payload";
    case store::on_conflict::move_due_time:
        return "move_due_time";
    case store::on_conflict::replace_and_move:
        return "replace_and_move";
    }
    return "skip";
}

std::string_view name_of(store::enqueue_outcome outcome)
{
    switch (outcome) {
    case store::enqueue_outcome::created:
        break;
    case store::enqueue_outcome::skipped:
        return "skipped";
    case store::enqueue_outcome::changed:
        return "changed";
    }
    return "created";
}

constexpr auto as_text = [](auto choice) { return name_of(choice); };

void read_job(const options& given, store::new_job& job)
{
    const auto take = [&](const char* name, auto& wanted) {
        if (given.has(name)) {
            wanted = given.number(name);
        }
    };
    given.refuse_together("run_at", "delay_s");
    take("run_at", job.run_at);
    take("delay_s", job.delay);
    take("priority", job.priority);
    take("max_attempts", job.max_attempts);
    take("expires_s", job.expires_in);
}

void read_unique(const options& given, store::job_keys& keys)
{
    keys.unique = {given.text("unique_key")};
    if (given.has("unique_scope")) {
        using enum unique_scope;
        keys.unique->while_running =
            given.choice("unique_scope", std::array{waiting, waiting_or_running}, as_text,
                         R"("waiting" or "waiting_or_running")") == waiting_or_running;
    }
    if (given.has("unique_period_s")) {
        keys.unique->period = given.number("unique_period_s");
    }
    if (given.has("on_conflict")) {
        using enum store::on_conflict;
        keys.on_conflict = given.choice(
            "on_conflict", std::array{skip, replace_payload, move_due_time, replace_and_move},
            as_text, R"("skip", "replace_payload", "move_due_time" or "replace_and_move")");
    }
}

/// What belongs to a key says nothing without one.
void require_with(const options& given, const char* key, std::initializer_list<const char*> names)
{
    for (const char* each : names) {
        if (!given.has(key) && given.has(each)) {
            given.refuse(each, std::string("needs a \"") + key + "\"");
        }
    }
}

store::job_keys read_keys(const options& given)
{
    require_with(given, "unique_key", {"unique_scope", "unique_period_s", "on_conflict"});
    require_with(given, "concurrency_key", {"concurrency_limit"});
    store::job_keys keys;
    if (given.has("unique_key")) {
        read_unique(given, keys);
    }
    if (given.has("concurrency_key")) {
        keys.limit = {given.text("concurrency_key")};
        if (given.has("concurrency_limit")) {
            keys.limit->most = given.number("concurrency_limit");
        }
    }
    return keys;
}

void enqueue(call& from)
{
    store::new_job job;
    job.queue = from.text(0);
    job.payload = from.text(1);
    const options given(from, 2, known, R"({"delay_s":30,"unique_key":"user-42"})");
    read_job(given, job);
    const store::job_keys keys = read_keys(given);
    store::require_job(job);
    store::require_keys(keys);
    const std::int64_t now = from.now();
    host& where = from.where();
    const store::enqueued_job done = where.atomically(from, [&] {
        store::create_tables_of(where.connection(), keys);
        return where.prepared().keyed.enqueue(job, keys, now);
    });
    from.result(text_of(json{{"id", done.id}, {"outcome", name_of(done.outcome)}}));
}

} // namespace

std::vector<function> job_key_functions()
{
    return {{"skein_enqueue", {"queue", "payload", "options"}, enqueue}};
}

} // namespace skein::extension
