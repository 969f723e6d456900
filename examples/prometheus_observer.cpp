#include "prometheus_observer.hpp"

#include <chrono>
#include <sstream>

namespace {

double in_seconds(std::chrono::duration<double> time)
{
    return time.count();
}

/// A queue's name may hold any character.
std::string escaped(std::string_view value)
{
    std::string text;
    for (const char each : value) {
        if (each == '\n') {
            text += "\\n";
            continue;
        }
        if (each == '"' || each == '\\') {
            text += '\\';
        }
        text += each;
    }
    return text;
}

std::string label(std::string_view name, std::string_view value)
{
    return std::string(name) + "=\"" + escaped(value) + '"';
}

std::string in_braces(const std::string& labels)
{
    return labels.empty() ? "" : '{' + labels + '}';
}

void write_head(std::ostream& to, std::string_view name, std::string_view type,
                std::string_view help)
{
    to << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
}

void write_counters(std::ostream& to, std::string_view name, std::string_view help,
                    const std::map<std::string, std::uint64_t>& values)
{
    write_head(to, name, "counter", help);
    for (const auto& [labels, value] : values) {
        to << name << in_braces(labels) << ' ' << value << '\n';
    }
}

void write_histograms(std::ostream& to, std::string_view name, std::string_view help,
                      const std::map<std::string, histogram>& values)
{
    write_head(to, name, "histogram", help);
    for (const auto& [labels, value] : values) {
        value.write(to, name, labels);
    }
}

} // namespace

void histogram::observe(double seconds)
{
    for (std::size_t each = 0; each != bounds.size(); ++each) {
        at_most_[each] += seconds <= bounds[each] ? 1 : 0;
    }
    ++count_;
    sum_ += seconds;
}

void histogram::write(std::ostream& to, std::string_view name, const std::string& labels) const
{
    const std::string others = labels.empty() ? "" : labels + ',';
    for (std::size_t each = 0; each != bounds.size(); ++each) {
        to << name << "_bucket{" << others << "le=\"" << bounds[each] << "\"} " << at_most_[each]
           << '\n';
    }
    to << name << "_bucket{" << others << "le=\"+Inf\"} " << count_ << '\n';
    to << name << "_sum" << in_braces(labels) << ' ' << sum_ << '\n';
    to << name << "_count" << in_braces(labels) << ' ' << count_ << '\n';
}

void prometheus_observer::on_job_enqueued(const skein::job_enqueued& event)
{
    const std::lock_guard lock(mutex_);
    ++enqueued_[label("queue", event.queue)];
}

void prometheus_observer::on_job_claimed(const skein::job_claimed& event)
{
    const std::lock_guard lock(mutex_);
    waited_[label("queue", event.queue)].observe(in_seconds(event.waited));
}

void prometheus_observer::on_job_acked(const skein::job_acked& event)
{
    count_end(event, "acked");
}

void prometheus_observer::on_job_retried(const skein::job_retried& event)
{
    count_end(event, "retried");
}

void prometheus_observer::on_job_released(const skein::job_released& event)
{
    count_end(event, "released");
}

void prometheus_observer::on_job_died(const skein::job_died& event)
{
    count_end(event, "dead");
}

void prometheus_observer::on_job_lease_lost(const skein::job_lease_lost& event)
{
    count_end(event, "lost");
}

void prometheus_observer::on_batch_committed(const skein::batch_committed& event)
{
    const std::lock_guard lock(mutex_);
    last_batch_ = event.operations;
    commits_.observe(in_seconds(event.commit));
}

void prometheus_observer::on_batch_failed(const skein::batch_failed& /*event*/)
{
    const std::lock_guard lock(mutex_);
    ++failed_batches_;
}

void prometheus_observer::count_end(const skein::job_attempt& attempt, std::string_view outcome)
{
    const std::lock_guard lock(mutex_);
    const std::string queue = label("queue", attempt.queue);
    ++ended_[queue + ',' + label("outcome", outcome)];
    if (attempt.held) {
        handled_[queue].observe(in_seconds(*attempt.held));
    }
}

std::string prometheus_observer::text() const
{
    const std::lock_guard lock(mutex_);
    std::ostringstream to;
    write_counters(to, "skein_jobs_enqueued_total", "Jobs that were enqueued.", enqueued_);
    write_counters(to, "skein_attempts_total", "Attempts that have ended, and how.", ended_);
    write_histograms(to, "skein_job_wait_seconds", "From due to claimed.", waited_);
    write_histograms(to, "skein_job_handling_seconds", "From claimed to finished.", handled_);
    write_histograms(to, "skein_commit_seconds", "What the disk takes.", {{"", commits_}});
    write_counters(to, "skein_failed_batches_total", "Batches undone.", {{"", failed_batches_}});
    write_head(to, "skein_batch_operations", "gauge", "Operations in the last commit.");
    to << "skein_batch_operations " << last_batch_ << '\n';
    return to.str();
}
