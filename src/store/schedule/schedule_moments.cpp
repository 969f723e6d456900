#include "store/schedule/schedule_moments.hpp"

#include "store/cron/cron_occurrence.hpp"
#include "store/error.hpp"
#include "store/saturating.hpp"

namespace skein::store {

namespace {

/// The moments of one schedule.
class moment_source {
public:
    explicit moment_source(const schedule_row& row)
        : is_shared_(row.table == schedule_table::shared), start_(*row.stored.next_fire_at),
          ends_at_(row.stored.ends_at),
          expression_(parse_cron(row.stored.expression,
                                 is_shared_ ? cron_grammar::shared : cron_grammar::extended)),
          zone_(find_time_zone(expression_.zone))
    {
    }

    /// The one that is stored, unless the schedule ends before it.
    [[nodiscard]] std::optional<std::int64_t> first() const { return unless_ended(start_); }

    /// The one that follows this moment of the schedule.
    [[nodiscard]] std::optional<std::int64_t> behind(std::int64_t moment) const
    {
        const auto next = next_occurrence(expression_, zone_, moment);
        if (!next && is_shared_) {
            throw invalid_argument("\"" + expression_.text + "\" has no further moment");
        }
        return next ? unless_ended(*next) : std::nullopt;
    }

    /// The first one after any moment that is not before the one that is stored.
    [[nodiscard]] std::optional<std::int64_t> after(std::int64_t moment) const
    {
        if (is_shared_ || expression_.interval == 0) {
            return behind(moment);
        }
        // The distance may be beyond the range of a signed number.
        const std::uint64_t passed =
            (static_cast<std::uint64_t>(moment) - static_cast<std::uint64_t>(start_)) %
            static_cast<std::uint64_t>(expression_.interval);
        return behind(saturating_subtract(moment, static_cast<std::int64_t>(passed)));
    }

private:
    [[nodiscard]] std::optional<std::int64_t> unless_ended(std::int64_t moment) const
    {
        return ends_at_ && moment > *ends_at_ ? std::nullopt : std::optional(moment);
    }

    bool is_shared_;
    std::int64_t start_;
    std::optional<std::int64_t> ends_at_;
    cron_expression expression_;
    time_zone zone_;
};

/// The first moment that is not missed.
std::optional<std::int64_t> first_wanted(const moment_source& source, const schedule& stored,
                                         std::int64_t due)
{
    const std::int64_t since = saturating_subtract(due, stored.grace);
    if (stored.missed == missed_moments::skip && *stored.next_fire_at < since) {
        return source.after(since - 1);
    }
    return source.first();
}

} // namespace

due_moments moments_due(const schedule_row& row, std::int64_t due)
{
    const moment_source source(row);
    const std::size_t most = row.stored.missed == missed_moments::once ? 1 : most_moments;
    due_moments found;
    found.next = first_wanted(source, row.stored, due);
    while (found.next && *found.next <= due && found.firing.size() < most) {
        found.firing.push_back(*found.next);
        found.next = source.behind(*found.next);
    }
    if (found.next && *found.next <= due) {
        found.next = source.after(due);
    }
    return found;
}

} // namespace skein::store
