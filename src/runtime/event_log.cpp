#include "runtime/event_log.hpp"

#include <utility>

namespace skein::runtime {

void event_log::prepare(sqlite::connection connection)
{
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS _skein_events (last INTEGER NOT NULL)");
    connection.execute("INSERT INTO temp._skein_events SELECT 0"
                       " WHERE NOT EXISTS (SELECT 1 FROM temp._skein_events)");
}

event_log::event_log(event_sink& sink, sqlite::connection connection)
    : sink_(sink), write_last_(connection, "UPDATE temp._skein_events SET last = ?1"),
      read_last_(connection, "SELECT last FROM temp._skein_events")
{
}

void event_log::add(event told)
{
    if (callback_begin_ && noted_.size() != *callback_begin_) {
        forget_undone();
    }
    noted_.push_back({++last_number_, std::move(told)});
    if (callback_begin_) {
        write_last_.run(last_number_);
    }
}

void event_log::forget_from(std::size_t first) noexcept
{
    while (noted_.size() > first) {
        noted_.pop_back();
    }
}

void event_log::forget_undone()
{
    sqlite::execution found = read_last_.start();
    const std::int64_t last = found.step() ? found.integer(0) : 0;
    while (noted_.size() > *callback_begin_ && noted_.back().number > last) {
        noted_.pop_back();
    }
}

void event_log::tell()
{
    for (const noted_event& each : noted_) {
        each.told(sink_);
    }
    noted_.clear();
}

} // namespace skein::runtime
