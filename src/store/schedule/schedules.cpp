#include "store/schedule/schedules.hpp"

#include "store/cron/cron_expression.hpp"
#include "store/error.hpp"

namespace skein::store {

namespace {

bool needs_own_table(const schedule& wanted)
{
    const bool has_zone = wanted.expression.starts_with(zone_prefix);
    return has_zone || wanted.ends_at || wanted.runs_left || !wanted.next_fire_at ||
           wanted.missed != missed_moments::all || wanted.overlap != overlap_policy::allow;
}

/// Else a caller would believe in a schedule that is not there, or that fires twice.
void require_heeded(bool is_heeded, std::string_view name)
{
    if (!is_heeded) {
        throw sqlite::error(SQLITE_CONSTRAINT_TRIGGER,
                            "a trigger ignores what is written of " + mention(name));
    }
}

std::optional<std::int64_t> moment_of(sqlite::execution found)
{
    return found.step() && !found.is_null(0) ? std::optional(found.integer(0)) : std::nullopt;
}

} // namespace

schedules::table_access::table_access(sqlite::connection connection,
                                      const schedule_statements& texts)
    : put(connection, texts.put), remove(connection, texts.remove), find(connection, texts.find),
      pause(connection, texts.pause), resume(connection, texts.resume)
{
}

schedules::schedules(sqlite::connection connection, family_shape shape)
    : has_own_(shape == family_shape::complete),
      shared_(connection, statements_of(schedule_table::shared)),
      own_(connection, statements_of(schedule_table::own)), list_(connection, select_all(has_own_)),
      find_(connection, select_one(has_own_)), soonest_(connection, select_soonest(has_own_)),
      soonest_after_(connection, select_soonest_after(has_own_)),
      count_due_(connection, select_due_count(has_own_))
{
}

void schedules::register_schedule(const new_schedule& added, std::int64_t now)
{
    schedule wanted = made_schedule(added, now);
    if (const std::optional<schedule> present = find(added.name)) {
        wanted.is_enabled = present->is_enabled;
        wanted.last_job = present->last_job;
    }
    put(wanted);
}

bool schedules::unregister(std::string_view name)
{
    const bool was_shared = remove_from(shared_, name);
    return (has_own_ && remove_from(own_, name)) || was_shared;
}

bool schedules::pause(std::string_view name)
{
    const bool has_changed = shared_.pause.run(name) > 0;
    return (has_own_ && own_.pause.run(name) > 0) || has_changed;
}

bool schedules::resume(std::string_view name)
{
    const bool has_changed = shared_.resume.run(name) > 0;
    return (has_own_ && own_.resume.run(name) > 0) || has_changed;
}

bool schedules::update(std::string_view name, const schedule_change& change, std::int64_t now)
{
    require_change(change);
    std::optional<schedule> present = find(name);
    if (!present || change.is_empty()) {
        return false;
    }
    apply_change(*present, change, now);
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
    return found.step() ? std::optional(read_schedule(found).stored) : std::nullopt;
}

std::optional<std::int64_t> schedules::soonest()
{
    return moment_of(soonest_.start());
}

std::optional<std::int64_t> schedules::soonest_after(std::int64_t moment)
{
    return moment_of(soonest_after_.start(moment));
}

std::int64_t schedules::count_due(std::int64_t moment)
{
    sqlite::execution found = count_due_.start(moment);
    found.step();
    return found.integer(0);
}

void schedules::put(const schedule& wanted)
{
    if (!needs_own_table(wanted)) {
        const int written = shared_.put.run(
            wanted.name, wanted.queue, wanted.expression, wanted.payload, wanted.priority,
            wanted.expires_in, wanted.max_attempts, int{wanted.is_enabled}, wanted.next_fire_at);
        require_heeded(written > 0, wanted.name);
        if (has_own_) {
            remove_from(own_, wanted.name);
        }
        return;
    }
    if (!has_own_) {
        throw invalid_argument(mention(wanted.name) +
                               " needs the table _skein_schedules, which this file lacks");
    }
    const int written =
        own_.put.run(wanted.name, wanted.queue, wanted.expression, wanted.payload, wanted.priority,
                     wanted.expires_in, wanted.max_attempts, int{wanted.is_enabled},
                     wanted.next_fire_at, wanted.ends_at, wanted.runs_left, text_of(wanted.missed),
                     wanted.grace, text_of(wanted.overlap), wanted.last_job);
    require_heeded(written > 0, wanted.name);
    remove_from(shared_, wanted.name);
}

bool schedules::remove_from(table_access& table, std::string_view name)
{
    const bool has_removed = table.remove.run(name) > 0;
    require_heeded(has_removed || !table.find.start(name).step(), name);
    return has_removed;
}

} // namespace skein::store
