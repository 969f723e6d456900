#include "api/schedule/schedule_arguments.hpp"

#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/seconds.hpp"
#include "store/cron/cron_expression.hpp"
#include "store/json_text.hpp"

#include <limits>

namespace skein::api {

namespace {

constexpr std::int64_t unlimited_runs = std::numeric_limits<std::int64_t>::max();

void require_expression(std::string_view text, bool both_days)
{
    const store::cron_expression parsed =
        checked([&] { return store::parse_cron(text, store::cron_grammar::registered); });
    if (!parsed.restricts_both_days()) {
        return;
    }
    if (parsed.zone.empty() && !both_days) {
        throw error(errc::invalid_argument,
                    "expression: \"" + parsed.text +
                        "\" restricts the day of the month and the day of the week. If either is "
                        "enough, write \"CRON_TZ=<zone> " +
                        parsed.text + "\"; if both must fit, give {.both_days = true}");
    }
    if (!parsed.zone.empty() && both_days) {
        throw error(errc::invalid_argument,
                    "both_days: given with the time zone \"" + parsed.zone +
                        "\"; with one, either day is enough. It is accepted without a time zone");
    }
}

void require_payload(const runtime::engine& database, std::string_view payload,
                     std::string_view name, std::string_view queue)
{
    require_room(database, payload, name, queue);
    checked([&] { store::require_json(payload); });
}

void require_grace(const std::optional<std::chrono::seconds>& grace,
                   std::optional<missed_moments> missed)
{
    if (grace && missed && *missed != missed_moments::skip) {
        throw error(errc::invalid_argument,
                    "grace: given with missed moments that are not skipped; it is accepted with "
                    "missed_moments::skip");
    }
}

store::missed_moments stored(missed_moments missed)
{
    switch (missed) {
    case missed_moments::all:
        return store::missed_moments::all;
    case missed_moments::once:
        return store::missed_moments::once;
    case missed_moments::skip:
        return store::missed_moments::skip;
    }
    throw error(errc::invalid_argument, "missed: not a value of missed_moments");
}

store::overlap_policy stored(overlap_policy overlap)
{
    switch (overlap) {
    case overlap_policy::allow:
        return store::overlap_policy::allow;
    case overlap_policy::skip:
        return store::overlap_policy::skip;
    }
    throw error(errc::invalid_argument, "overlap: not a value of overlap_policy");
}

std::optional<std::int64_t> stored(const std::optional<std::chrono::seconds>& time)
{
    return time ? std::optional(time->count()) : std::nullopt;
}

std::optional<std::int64_t> stored(const std::optional<clock::wall_time>& time)
{
    return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

/// What is given of a change; inside, nothing stands for the greatest value, which means none.
template <class Value>
std::optional<std::optional<std::int64_t>> unless_greatest(const std::optional<Value>& given)
{
    if (!given) {
        return std::nullopt;
    }
    return *given == Value::max() ? std::optional<std::int64_t>() : stored(given);
}

std::optional<std::optional<std::int64_t>> changed_runs(const std::optional<std::int64_t>& given)
{
    if (!given) {
        return std::nullopt;
    }
    return *given == unlimited_runs ? std::optional<std::int64_t>() : given;
}

std::optional<std::string> copy_of(const std::optional<std::string_view>& text)
{
    return text ? std::optional(std::string(*text)) : std::nullopt;
}

} // namespace

owned_schedule::owned_schedule(const runtime::engine& database, std::string_view name,
                               std::string_view queue, std::string_view expression,
                               std::string_view payload, const schedule_options& options)
    : options_(options)
{
    require_payload(database, payload, name, queue);
    require_expression(expression, options.both_days);
    require_grace(options.grace, options.missed);
    name_ = name;
    queue_ = queue;
    expression_ = expression;
    payload_ = payload;
    checked([&] { store::require_schedule(stored()); });
}

store::new_schedule owned_schedule::stored() const
{
    store::new_schedule added;
    added.name = name_;
    added.queue = queue_;
    added.expression = expression_;
    added.payload = payload_;
    added.priority = options_.priority;
    added.expires_in = api::stored(options_.expires_in);
    added.max_attempts = options_.max_attempts;
    added.ends_at = api::stored(options_.ends_at);
    added.runs = options_.runs;
    added.missed = api::stored(options_.missed);
    if (options_.grace) {
        added.grace = options_.grace->count();
    }
    added.overlap = api::stored(options_.overlap);
    return added;
}

owned_change::owned_change(const runtime::engine& database, std::string_view name,
                           const schedule_change& change)
    : change_(change)
{
    if (change.payload) {
        require_payload(database, *change.payload, name, {});
    }
    if (change.expression) {
        require_expression(*change.expression, change.both_days);
    }
    require_grace(change.grace, change.missed);
    name_ = name;
    expression_ = copy_of(change.expression);
    payload_ = copy_of(change.payload);
    change_.expression = {};
    change_.payload = {};
    checked([&] { store::require_change(stored()); });
}

store::schedule_change owned_change::stored() const
{
    store::schedule_change wanted;
    wanted.expression = expression_;
    wanted.payload = payload_;
    wanted.priority = change_.priority;
    wanted.expires_in = unless_greatest(change_.expires_in);
    wanted.max_attempts = change_.max_attempts;
    wanted.ends_at = unless_greatest(change_.ends_at);
    wanted.runs = changed_runs(change_.runs);
    if (change_.missed) {
        wanted.missed = api::stored(*change_.missed);
    }
    wanted.grace = api::stored(change_.grace);
    if (change_.overlap) {
        wanted.overlap = api::stored(*change_.overlap);
    }
    return wanted;
}

} // namespace skein::api
