#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"
#include "store/cron/cron_occurrence.hpp"
#include "store/error.hpp"

namespace skein::extension {

namespace {

store::schedules& schedules_of(const call& from)
{
    return from.where().prepared().schedules.get();
}

/// A schedule may move from one table to the other.
template <class Work>
void change_schedules(call& from, Work work)
{
    from.result(from.where().atomically_anywhere([&] { return work(schedules_of(from)); }));
}

void register_schedule(call& from)
{
    store::new_schedule added;
    added.name = from.text(0);
    added.queue = from.text(1);
    added.expression = from.text(2);
    added.payload = from.text(3);
    added.priority = from.integer(4);
    added.expires_in = from.integer_or_null(5);
    if (from.count() > 6) {
        added.max_attempts = from.integer(6);
    }
    const std::int64_t now = from.now();
    change_schedules(from, [&](store::schedules& all) {
        all.register_schedule(added, now);
        return true;
    });
}

void unregister(call& from)
{
    const std::string_view name = from.text(0);
    change_schedules(from, [&](store::schedules& all) { return all.unregister(name); });
}

void pause(call& from)
{
    const std::string_view name = from.text(0);
    change_schedules(from, [&](store::schedules& all) { return all.pause(name); });
}

void resume(call& from)
{
    const std::string_view name = from.text(0);
    change_schedules(from, [&](store::schedules& all) { return all.resume(name); });
}

/// NULL leaves something as it is, but where a number beside it says that it is touched.
void update(call& from)
{
    const std::string_view name = from.text(0);
    store::schedule_change change;
    change.expression = from.text_or_null(1);
    change.payload = from.text_or_null(2);
    change.priority = from.integer_or_null(3);
    const std::optional<std::int64_t> expires_in = from.integer_or_null(4);
    if (from.integer(5) != 0) {
        change.expires_in = expires_in;
    }
    if (from.count() > 6) {
        const std::optional<std::int64_t> max_attempts = from.integer_or_null(6);
        if (from.integer(7) != 0) {
            change.max_attempts = max_attempts.value_or(store::new_schedule().max_attempts);
        }
    }
    const std::int64_t now = from.now();
    change_schedules(from, [&](store::schedules& all) { return all.update(name, change, now); });
}

json to_json(const store::schedule& schedule)
{
    return {{"cron_expr", schedule.expression},
            {"enabled", schedule.is_enabled},
            {"expires_s", or_null(schedule.expires_in)},
            {"max_attempts", schedule.max_attempts},
            {"name", schedule.name},
            {"next_fire_at", or_null(schedule.next_fire_at)},
            {"payload", schedule.payload},
            {"priority", schedule.priority},
            {"queue", schedule.queue}};
}

void list(call& from)
{
    json all = json::array();
    for (const store::schedule& each : schedules_of(from).list()) {
        all.push_back(to_json(each));
    }
    from.result(text_of(all));
}

void soonest(call& from)
{
    from.result(schedules_of(from).soonest().value_or(0));
}

json to_json(const store::schedule_fire& fire)
{
    return {{"fire_at", fire.fire_at},
            {"job_id", fire.job},
            {"name", fire.name},
            {"queue", fire.queue}};
}

void tick(call& from)
{
    const std::int64_t due = from.integer(0);
    const std::int64_t now = from.now();
    from.result(from.where().atomically(from, [&] {
        const store::tick_outcome outcome = from.where().prepared().tick.get().tick(due, now);
        store::require_no_refusal(outcome);
        json all = json::array();
        for (const store::schedule_fire& each : outcome.fires) {
            all.push_back(to_json(each));
        }
        return text_of(all);
    }));
}

void cron_next_after(call& from)
{
    const std::string_view text = from.text(0);
    const std::int64_t after = from.integer(1);
    const store::cron_expression expression =
        store::parse_cron(text, store::cron_grammar::extended);
    const auto next =
        store::next_occurrence(expression, store::find_time_zone(expression.zone), after);
    if (!next) {
        throw store::invalid_argument("\"" + expression.text + "\" has no moment within 100 years");
    }
    from.result(*next);
}

} // namespace

std::vector<function> schedule_functions()
{
    return {{"honker_scheduler_register",
             {"name", "queue", "cron_expr", "payload", "priority", "expires_s"},
             register_schedule},
            {"honker_scheduler_register",
             {"name", "queue", "cron_expr", "payload", "priority", "expires_s", "max_attempts"},
             register_schedule},
            {"honker_scheduler_unregister", {"name"}, unregister},
            {"honker_scheduler_pause", {"name"}, pause},
            {"honker_scheduler_resume", {"name"}, resume},
            {"honker_scheduler_update",
             {"name", "cron_expr", "payload", "priority", "expires_s", "touch_expires"},
             update},
            {"honker_scheduler_update",
             {"name", "cron_expr", "payload", "priority", "expires_s", "touch_expires",
              "max_attempts", "touch_max_attempts"},
             update},
            {"honker_scheduler_list", {}, list},
            {"honker_scheduler_soonest", {}, soonest},
            {"honker_scheduler_tick", {"now"}, tick},
            {"honker_cron_next_after", {"cron_expr", "from"}, cron_next_after}};
}

} // namespace skein::extension
