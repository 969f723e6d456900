#include "store/schedule/schedule_rows.hpp"

#include "store/queue/error_text.hpp"

namespace skein::store {

namespace {

std::optional<std::int64_t> number(const sqlite::execution& found, int column)
{
    return found.is_null(column) ? std::nullopt : std::optional(found.integer(column));
}

missed_moments missed_of(std::string_view text)
{
    for (const auto each : {missed_moments::skip, missed_moments::once}) {
        if (text == text_of(each)) {
            return each;
        }
    }
    return missed_moments::all;
}

} // namespace

std::string name_of(schedule_table table)
{
    return table == schedule_table::shared ? "_honker_scheduler_tasks" : "_skein_schedules";
}

std::string comes_at_all()
{
    // A text is greater than every number.
    return "next_fire_at <= 9223372036854775807";
}

std::string whole_second(const std::string& moment)
{
    const std::string whole = "CAST(" + moment + " AS INTEGER)";
    return whole + " + (" + moment + " > " + whole + ")";
}

std::string schedule_columns(schedule_table table)
{
    const std::string common =
        "rowid, name, queue, cron_expr, payload, priority, expires_s, max_attempts, enabled,"
        " iif(" +
        comes_at_all() + ", " + whole_second("next_fire_at") + ", NULL), ";
    return table == schedule_table::shared
               ? common + "0, NULL, NULL, NULL, 60, NULL, NULL"
               : common + "1, ends_at, runs_left, missed, grace_s, overlap, last_job";
}

schedule_row read_schedule(const sqlite::execution& found)
{
    schedule_row row;
    row.number = found.integer(0);
    row.table = found.integer(10) == 0 ? schedule_table::shared : schedule_table::own;
    schedule& stored = row.stored;
    stored.name = found.text(1);
    stored.queue = found.text(2);
    stored.expression = found.text(3);
    stored.payload = found.text(4);
    stored.priority = found.integer(5);
    stored.expires_in = number(found, 6);
    stored.max_attempts = found.integer(7);
    stored.is_enabled = found.integer(8) != 0;
    stored.next_fire_at = number(found, 9);
    stored.ends_at = number(found, 11);
    stored.runs_left = number(found, 12);
    stored.missed = missed_of(found.text(13));
    stored.grace = found.integer(14);
    stored.overlap = found.text(15) == text_of(overlap_policy::skip) ? overlap_policy::skip
                                                                     : overlap_policy::allow;
    stored.last_job = number(found, 16);
    return row;
}

std::string mention(std::string_view name)
{
    constexpr std::size_t longest = 200;
    std::string shown = kept_error_text(name.substr(0, longest));
    for (std::size_t at = 0; (at = shown.find('\0', at)) != std::string::npos;) {
        shown.replace(at, 1, "\xEF\xBF\xBD");
    }
    return "schedule \"" + shown + (name.size() > longest ? "…\"" : "\"");
}

std::string_view text_of(missed_moments missed)
{
    switch (missed) {
    case missed_moments::skip:
        return "skip";
    case missed_moments::once:
        return "once";
    case missed_moments::all:
        break;
    }
    return "all";
}

std::string_view text_of(overlap_policy overlap)
{
    return overlap == overlap_policy::skip ? "skip" : "allow";
}

} // namespace skein::store
