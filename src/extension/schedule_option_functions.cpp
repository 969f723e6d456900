// Schedules with what only skein understands: an end, a number of runs, and policies. Since these
// are many and optional, they are given as the members of a JSON object.

#include "extension/function.hpp"

#include "extension/host.hpp"
#include "extension/json.hpp"

#include "store/schedule/schedule_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace skein::extension {

namespace {

constexpr std::array known{"priority", "expires_s", "max_attempts", "ends_at",
                           "runs",     "missed",    "grace_s",      "overlap"};

/// The options of one call, checked to be some of those that are known.
class options {
public:
    options(const call& from, std::size_t index) : function_(from.function())
    {
        values_ = json::parse(from.text(index), nullptr, false);
        if (!values_.is_object()) {
            throw bad_argument(function_ + ": options must be a JSON object, such as "
                                           "{\"runs\":3,\"overlap\":\"skip\"}");
        }
        for (const auto& each : values_.items()) {
            if (std::ranges::find(known, each.key()) == known.end()) {
                refuse(each.key(), "is not known; " + names() + " are");
            }
        }
    }

    [[nodiscard]] bool has(const char* name) const { return values_.contains(name); }

    /// Nothing for null.
    [[nodiscard]] std::optional<std::int64_t> number_or_null(const char* name) const
    {
        const json& value = values_.at(name);
        if (value.is_null()) {
            return std::nullopt;
        }
        // The library compares an unsigned number with a signed one as if both were signed.
        constexpr auto largest = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
        const bool is_too_large =
            value.is_number_unsigned() && value.get<std::uint64_t>() > largest;
        if (!value.is_number_integer() || is_too_large) {
            refuse(name, "must be a whole number");
        }
        return value.get<std::int64_t>();
    }

    [[nodiscard]] std::int64_t number(const char* name) const
    {
        const std::optional<std::int64_t> given = number_or_null(name);
        if (!given) {
            refuse(name, "must be a whole number");
        }
        return *given;
    }

    [[nodiscard]] store::missed_moments missed() const
    {
        using enum store::missed_moments;
        return choice("missed", std::array{all, once, skip}, R"("all", "once" or "skip")");
    }

    [[nodiscard]] store::overlap_policy overlap() const
    {
        using enum store::overlap_policy;
        return choice("overlap", std::array{allow, skip}, R"("allow" or "skip")");
    }

private:
    template <class Choices>
    [[nodiscard]] typename Choices::value_type choice(const char* name, const Choices& choices,
                                                      const std::string& accepted) const
    {
        for (const auto each : choices) {
            if (values_.at(name) == store::text_of(each)) {
                return each;
            }
        }
        refuse(name, "must be " + accepted);
    }

    [[nodiscard]] static std::string names()
    {
        std::string all;
        for (const char* each : known) {
            all += (all.empty() ? "" : ", ") + std::string(each);
        }
        return all;
    }

    [[noreturn]] void refuse(const std::string& name, const std::string& reason) const
    {
        throw bad_argument(function_ + ": option \"" + name + "\" " + reason);
    }

    std::string function_;
    json values_;
};

/// What the options say; null takes away what may be absent.
store::schedule_change read_options(const call& from, std::size_t index)
{
    const options given(from, index);
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
    if (given.has("missed")) {
        wanted.missed = given.missed();
    }
    if (given.has("overlap")) {
        wanted.overlap = given.overlap();
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
