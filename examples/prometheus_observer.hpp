#pragma once

#include <skein/observer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

/// A histogram as Prometheus has them, in seconds.
class histogram {
public:
    void observe(double seconds);

    /// `labels` without braces.
    void write(std::ostream& to, std::string_view name, const std::string& labels) const;

private:
    static constexpr std::array<double, 8> bounds{0.001, 0.01, 0.1, 0.5, 1, 10, 60, 600};

    std::array<std::uint64_t, bounds.size()> at_most_{};
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

/// What a database does, as metrics in Prometheus' text form. One object may observe several
/// databases, and is read on any thread.
class prometheus_observer final : public skein::observer {
public:
    /// What an HTTP server answers to GET /metrics.
    [[nodiscard]] std::string text() const;

    void on_job_enqueued(const skein::job_enqueued& event) override;
    void on_job_claimed(const skein::job_claimed& event) override;
    void on_job_acked(const skein::job_acked& event) override;
    void on_job_retried(const skein::job_retried& event) override;
    void on_job_released(const skein::job_released& event) override;
    void on_job_died(const skein::job_died& event) override;
    void on_job_lease_lost(const skein::job_lease_lost& event) override;
    void on_batch_committed(const skein::batch_committed& event) override;
    void on_batch_failed(const skein::batch_failed& event) override;

private:
    void count_end(const skein::job_attempt& attempt, std::string_view outcome);

    // By their labels, without braces.
    using counters = std::map<std::string, std::uint64_t>;
    using histograms = std::map<std::string, histogram>;

    mutable std::mutex mutex_;
    counters enqueued_;
    counters ended_;
    histograms waited_;
    histograms handled_;
    histogram commits_;
    std::uint64_t failed_batches_ = 0;
    std::size_t last_batch_ = 0;
};
