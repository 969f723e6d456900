#include "store/schedule/schedules.hpp"

#include "store/cron/cron_occurrence.hpp"
#include "store/error.hpp"
#include "store/json_text.hpp"
#include "store/queue/job_enqueuer.hpp"

namespace skein::store {

namespace {

constexpr schedule_table shared = schedule_table::shared;
constexpr schedule_table own = schedule_table::own;

constexpr std::string_view common_columns =
    "name, queue, cron_expr, payload, priority, expires_s, max_attempts, enabled, next_fire_at";

std::string put_into(schedule_table table)
{
    std::string columns(common_columns);
    std::string values = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9";
    std::string changes =
        "queue = excluded.queue, cron_expr = excluded.cron_expr, payload = excluded.payload,"
        " priority = excluded.priority, expires_s = excluded.expires_s,"
        " max_attempts = excluded.max_attempts, enabled = excluded.enabled,"
        " next_fire_at = excluded.next_fire_at";
    if (table == own) {
        columns += ", ends_at, runs_left, missed, grace_s, overlap, last_job";
        values += ", ?10, ?11, ?12, ?13, ?14, ?15";
        changes += ", ends_at = excluded.ends_at, runs_left = excluded.runs_left,"
                   " missed = excluded.missed, grace_s = excluded.grace_s,"
                   " overlap = excluded.overlap, last_job = excluded.last_job";
    }
    return "INSERT INTO " + name_of(table) + " (" + columns + ") VALUES (" + values +
           ") ON CONFLICT (name) DO UPDATE SET " + changes;
}

std::string remove_from(schedule_table table)
{
    return "DELETE FROM " + name_of(table) + " WHERE name = ?1";
}

std::string pause_in(schedule_table table)
{
    return "UPDATE " + name_of(table) + " SET enabled = 0 WHERE name = ?1 AND enabled";
}

std::string resume_in(schedule_table table)
{
    return "UPDATE " + name_of(table) + " SET enabled = 1 WHERE name = ?1 AND NOT enabled";
}

std::string select(schedule_table table, const std::string& condition)
{
    return "SELECT " + schedule_columns(table) + " FROM " + name_of(table) + condition;
}

std::string select_all(bool has_own)
{
    return select(shared, "") + (has_own ? " UNION ALL " + select(own, "") : "") + " ORDER BY name";
}

std::string select_one(bool has_own)
{
    const std::string by_name = " WHERE name = ?1";
    return (has_own ? select(own, by_name) + " UNION ALL " : "") + select(shared, by_name);
}

std::string soonest_in(schedule_table table)
{
    return "SELECT min(next_fire_at) AS moment FROM " + name_of(table) + " WHERE enabled";
}

std::string select_soonest(bool has_own)
{
    return has_own ? "SELECT min(moment) FROM (" + soonest_in(shared) + " UNION ALL " +
                         soonest_in(own) + ")"
                   : soonest_in(shared);
}

bool needs_own_table(const schedule& wanted)
{
    const bool has_zone = wanted.expression.starts_with(zone_prefix);
    return has_zone || wanted.ends_at || wanted.runs_left || wanted.missed != missed_moments::all ||
           wanted.overlap != overlap_policy::allow;
}

/// Gives the schedule this expression, and the first moment after `now`.
void set_expression(schedule& changed, std::string_view text, std::int64_t now)
{
    cron_expression expression = parse_cron(text, cron_grammar::registered);
    const auto next = next_occurrence(expression, find_time_zone(expression.zone), now);
    if (!next) {
        throw invalid_argument("schedule expression \"" + expression.text +
                               "\" has no moment within 100 years");
    }
    if (changed.ends_at && *next > *changed.ends_at) {
        throw invalid_argument("schedule expression \"" + expression.text +
                               "\" has no moment before the schedule ends");
    }
    changed.expression = std::move(expression.text);
    // One that has fired as often as it was to stays at its end.
    changed.next_fire_at = changed.runs_left.value_or(1) > 0 ? next : std::nullopt;
}

void require_options(const new_schedule& added)
{
    require_max_attempts(added.max_attempts);
    require_json(added.payload);
    if (added.runs && *added.runs < 1) {
        throw invalid_argument("runs must be at least 1, got " + std::to_string(*added.runs));
    }
    if (added.grace < 0) {
        throw invalid_argument("grace must not be negative, got " + std::to_string(added.grace));
    }
}

} // namespace

schedules::schedules(sqlite::connection connection, family_shape shape)
    : has_own_(shape == family_shape::complete), put_shared_(connection, put_into(shared)),
      put_own_(connection, put_into(own)), remove_shared_(connection, remove_from(shared)),
      remove_own_(connection, remove_from(own)), pause_shared_(connection, pause_in(shared)),
      pause_own_(connection, pause_in(own)), resume_shared_(connection, resume_in(shared)),
      resume_own_(connection, resume_in(own)), list_(connection, select_all(has_own_)),
      find_(connection, select_one(has_own_)), soonest_(connection, select_soonest(has_own_))
{
}

void schedules::register_schedule(const new_schedule& added, std::int64_t now)
{
    require_options(added);
    schedule wanted{.name = std::string(added.name),
                    .queue = std::string(added.queue),
                    .expression = {},
                    .payload = std::string(added.payload),
                    .priority = added.priority,
                    .expires_in = added.expires_in,
                    .max_attempts = added.max_attempts,
                    .ends_at = added.ends_at,
                    .runs_left = added.runs,
                    .missed = added.missed,
                    .grace = added.grace,
                    .overlap = added.overlap};
    set_expression(wanted, added.expression, now);
    if (const std::optional<schedule> present = find(added.name)) {
        wanted.is_enabled = present->is_enabled;
        wanted.last_job = present->last_job;
    }
    put(wanted);
}

void schedules::put(const schedule& wanted)
{
    if (!needs_own_table(wanted)) {
        put_shared_.run(wanted.name, wanted.queue, wanted.expression, wanted.payload,
                        wanted.priority, wanted.expires_in, wanted.max_attempts,
                        int{wanted.is_enabled}, wanted.next_fire_at);
        if (has_own_) {
            remove_own_.run(wanted.name);
        }
        return;
    }
    if (!has_own_) {
        throw invalid_argument("schedule \"" + wanted.name +
                               "\" needs the table _skein_schedules, which this file lacks");
    }
    put_own_.run(wanted.name, wanted.queue, wanted.expression, wanted.payload, wanted.priority,
                 wanted.expires_in, wanted.max_attempts, int{wanted.is_enabled},
                 wanted.next_fire_at, wanted.ends_at, wanted.runs_left, text_of(wanted.missed),
                 wanted.grace, text_of(wanted.overlap), wanted.last_job);
    remove_shared_.run(wanted.name);
}

bool schedules::change_both(sqlite::statement& in_shared, sqlite::statement& in_own,
                            std::string_view name)
{
    const bool has_changed = in_shared.run(name) > 0;
    return (has_own_ && in_own.run(name) > 0) || has_changed;
}

bool schedules::unregister(std::string_view name)
{
    return change_both(remove_shared_, remove_own_, name);
}

bool schedules::pause(std::string_view name)
{
    return change_both(pause_shared_, pause_own_, name);
}

bool schedules::resume(std::string_view name)
{
    return change_both(resume_shared_, resume_own_, name);
}

bool schedules::update(std::string_view name, const schedule_change& change, std::int64_t now)
{
    if (change.max_attempts) {
        require_max_attempts(*change.max_attempts);
    }
    if (change.payload) {
        require_json(*change.payload);
    }
    std::optional<schedule> present = find(name);
    if (!present || change.is_empty()) {
        return false;
    }
    if (change.expression) {
        set_expression(*present, *change.expression, now);
    }
    present->payload = change.payload.value_or(present->payload);
    present->priority = change.priority.value_or(present->priority);
    present->expires_in = change.expires_in.value_or(present->expires_in);
    present->max_attempts = change.max_attempts.value_or(present->max_attempts);
    put(*present);
    return true;
}

std::vector<schedule> schedules::list()
{
    std::vector<schedule> all;
    sqlite::execution found = list_.start();
    while (found.step()) {
        all.push_back(read_schedule(found).stored);
    }
    return all;
}

std::optional<schedule> schedules::find(std::string_view name)
{
    sqlite::execution found = find_.start(name);
    if (!found.step()) {
        return std::nullopt;
    }
    return read_schedule(found).stored;
}

std::optional<std::int64_t> schedules::soonest()
{
    sqlite::execution found = soonest_.start();
    if (!found.step() || found.is_null(0)) {
        return std::nullopt;
    }
    return found.integer(0);
}

} // namespace skein::store
