// Schedules with what only skein understands: an end, a number of runs, and policies. Since these
// are many and optional, they are given as the members of a JSON object.

#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "extension/options.hpp"
#include "store/schedule/schedule_rows.hpp"

#include <array>

namespace skein::extension {

namespace {

constexpr std::array known{"priority", "expires_s", "max_attempts", "ends_at",
                           "runs",     "missed",    "grace_s",      "overlap"};

/// What the options say; null takes away what may be absent.
store::schedule_change read_options(const call& from, std::size_t index)
{
    const options given(from, index, known, R"({"runs":3,"overlap":"skip"})");
    const auto take = [&](const char* name, auto& wanted) {
        if (given.has(name)) {
            wanted = given.number(name);
        }
    };
    const auto take_or_clear = [&](const char* name, auto& wanted) {
        if (given.has(name)) {
            wanted = given.number_or_null(name);
        }
    };
    store::schedule_change wanted;
    take("priority", wanted.priority);
    take("max_attempts", wanted.max_attempts);
    take("grace_s", wanted.grace);
    take_or_clear("expires_s", wanted.expires_in);
    take_or_clear("ends_at", wanted.ends_at);
    take_or_clear("runs", wanted.runs);
    const auto as_text = [](auto choice) { return store::text_of(choice); };
    if (given.has("missed")) {
        using enum store::missed_moments;
        wanted.missed = given.choice("missed", std::array{all, once, skip}, as_text,
                                     R"("all", "once" or "skip")");
    }
    if (given.has("overlap")) {
        using enum store::overlap_policy;
        wanted.overlap =
            given.choice("overlap", std::array{allow, skip}, as_text, R"("allow" or "skip")");
    }
    return wanted;
}

void add(call& from)
{
    store::new_schedule added;
    added.name = from.text(0);
    added.queue = from.text(1);
    added.expression = from.text(2);
    added.payload = from.text(3);
    const store::schedule_change given = read_options(from, 4);
    added.priority = given.priority.value_or(added.priority);
    added.expires_in = given.expires_in.value_or(added.expires_in);
    added.max_attempts = given.max_attempts.value_or(added.max_attempts);
    added.ends_at = given.ends_at.value_or(added.ends_at);
    added.runs = given.runs.value_or(added.runs);
    added.missed = given.missed.value_or(added.missed);
    added.grace = given.grace.value_or(added.grace);
    added.overlap = given.overlap.value_or(added.overlap);
    const std::int64_t now = from.now();
    host& where = from.where();
    from.result(where.atomically_anywhere([&] {
        where.prepared().schedules.get().register_schedule(added, now);
        return true;
    }));
}

void change(call& from)
{
    const std::string_view name = from.text(0);
    const std::optional<std::string_view> expression = from.text_or_null(1);
    const std::optional<std::string_view> payload = from.text_or_null(2);
    store::schedule_change wanted = read_options(from, 3);
    wanted.expression = expression;
    wanted.payload = payload;
    const std::int64_t now = from.now();
    host& where = from.where();
    from.result(where.atomically_anywhere(
        [&] { return where.prepared().schedules.get().update(name, wanted, now); }));
}

void find(call& from)
{
    const auto found = from.where().prepared().schedules.get().find(from.text(0));
    if (!found) {
        from.result_null();
        return;
    }
    from.result(text_of({{"cron_expr", found->expression},
                         {"enabled", found->is_enabled},
                         {"ends_at", or_null(found->ends_at)},
                         {"expires_s", or_null(found->expires_in)},
                         {"grace_s", found->grace},
                         {"last_job", or_null(found->last_job)},
                         {"max_attempts", found->max_attempts},
                         {"missed", store::text_of(found->missed)},
                         {"name", found->name},
                         {"next_fire_at", or_null(found->next_fire_at)},
                         {"overlap", store::text_of(found->overlap)},
                         {"payload", found->payload},
                         {"priority", found->priority},
                         {"queue", found->queue},
                         {"runs_left", or_null(found->runs_left)}}));
}

} // namespace

std::vector<function> schedule_option_functions()
{
    return {{"skein_scheduler_add", {"name", "queue", "cron_expr", "payload", "options"}, add},
            {"skein_scheduler_change", {"name", "cron_expr", "payload", "options"}, change},
            {"skein_scheduler_find", {"name"}, find}};
}

} // namespace skein::extension
