#include "observer/recording_observer.hpp"

#include <chrono>
#include <optional>
#include <sstream>
#include <string_view>

namespace skein::support {

namespace {

template <class... Parts>
std::string line(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

std::string in_ms(std::chrono::nanoseconds time)
{
    return line(std::chrono::duration<double, std::milli>(time).count(), " ms");
}

std::string held(const std::optional<std::chrono::nanoseconds>& time)
{
    return time ? " held " + in_ms(*time) : "";
}

std::string attempt(const job_attempt& about)
{
    return line(about.queue, '#', about.id, " attempt ", about.attempt, held(about.held));
}

std::string attempt(const message_attempt& about)
{
    return line(about.transport, '/', about.group, '#', about.seq, held(about.held));
}

std::string_view name_of(job_origin origin)
{
    switch (origin) {
    case job_origin::program:
        return "program";
    case job_origin::schedule:
        return "schedule";
    case job_origin::dead_letter:
        break;
    }
    return "dead letter";
}

std::string_view name_of(death_cause cause)
{
    switch (cause) {
    case death_cause::failed:
        return "failed";
    case death_cause::exhausted:
        return "exhausted";
    case death_cause::expired:
        break;
    }
    return "expired";
}

} // namespace

std::vector<std::string> recording_observer::take_deeds()
{
    std::vector<std::string> deeds = take();
    std::erase_if(deeds, [](const std::string& each) {
        return each.starts_with("batch") || each.starts_with("lock") || each.starts_with("read");
    });
    return deeds;
}

void recording_observer::on_job_enqueued(const job_enqueued& event)
{
    lines_.push_back(line("enqueued ", event.queue, '#', event.id, " by ", name_of(event.origin)));
}

void recording_observer::on_job_claimed(const job_claimed& event)
{
    lines_.push_back(line("claimed ", event.queue, '#', event.id, " attempt ", event.attempt, '/',
                          event.max_attempts, " by ", event.worker, " after ", event.waited.count(),
                          " s"));
}

void recording_observer::on_job_acked(const job_acked& event)
{
    lines_.push_back("acked " + attempt(event));
}

void recording_observer::on_job_retried(const job_retried& event)
{
    lines_.push_back(
        line("retried ", attempt(event), " in ", event.delay.count(), " s: ", event.error));
}

void recording_observer::on_job_released(const job_released& event)
{
    lines_.push_back(line("released ", attempt(event), " for ", event.delay.count(), " s"));
}

void recording_observer::on_job_died(const job_died& event)
{
    lines_.push_back(line("died ", attempt(event), ' ', name_of(event.cause), ": ", event.error));
}

void recording_observer::on_job_lease_lost(const job_lease_lost& event)
{
    lines_.push_back(line("lost ", attempt(event), " at ", event.verb));
}

void recording_observer::on_job_cancelled(const job_cancelled& event)
{
    lines_.push_back(line("cancelled ", event.queue, '#', event.id));
}

void recording_observer::on_message_published(const message_published& event)
{
    lines_.push_back(line("published ", event.transport, '/', event.group));
}

void recording_observer::on_message_claimed(const message_claimed& event)
{
    lines_.push_back(
        line("claimed ", event.transport, '/', event.group, '#', event.seq, " by ", event.worker));
}

void recording_observer::on_message_acked(const message_acked& event)
{
    lines_.push_back("acked " + attempt(event));
}

void recording_observer::on_message_nacked(const message_nacked& event)
{
    lines_.push_back(line("nacked ", attempt(event), " for ", event.delay.count(), " s"));
}

void recording_observer::on_message_lease_lost(const message_lease_lost& event)
{
    lines_.push_back(line("lost ", attempt(event), " at ", event.verb));
}

void recording_observer::on_event_published(const event_published& event)
{
    lines_.push_back(line("event ", event.topic, '@', event.offset));
}

void recording_observer::on_notification_published(const notification_published& event)
{
    lines_.push_back(line("notification ", event.channel, '@', event.id));
}

void recording_observer::on_batch_committed(const batch_committed& event)
{
    lines_.push_back(line("batch of ", event.operations, ", ", event.failed, " failed, ",
                          in_ms(event.duration), ", commit ", in_ms(event.commit)));
}

void recording_observer::on_batch_failed(const batch_failed& event)
{
    lines_.push_back(line("batch of ", event.operations, " failed: ", event.reason.code().message(),
                          ' ', event.reason.sqlite_code()));
}

void recording_observer::on_lock_awaited(const lock_awaited& event)
{
    lines_.push_back(line("lock after ", in_ms(event.waited), ", ", event.timed_out, " timed out"));
}

void recording_observer::on_read_finished(const read_finished& event)
{
    lines_.push_back(line("read ", in_ms(event.duration), event.has_failed ? " failed" : ""));
}

} // namespace skein::support
