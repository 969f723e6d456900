#pragma once

#include <skein/observer.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skein::support {

/// Keeps what it is told, one line for each event.
class recording_observer final : public observer {
public:
    /// What was told since the last call, in its order.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(lines_, {}); }

    /// The same without batches, locks and reads: what has happened, and not how.
    [[nodiscard]] std::vector<std::string> take_deeds();

    void on_job_enqueued(const job_enqueued& event) override;
    void on_job_claimed(const job_claimed& event) override;
    void on_job_acked(const job_acked& event) override;
    void on_job_retried(const job_retried& event) override;
    void on_job_released(const job_released& event) override;
    void on_job_died(const job_died& event) override;
    void on_job_lease_lost(const job_lease_lost& event) override;
    void on_job_cancelled(const job_cancelled& event) override;

    void on_message_published(const message_published& event) override;
    void on_message_claimed(const message_claimed& event) override;
    void on_message_acked(const message_acked& event) override;
    void on_message_nacked(const message_nacked& event) override;
    void on_message_lease_lost(const message_lease_lost& event) override;

    void on_event_published(const event_published& event) override;
    void on_notification_published(const notification_published& event) override;

    void on_batch_committed(const batch_committed& event) override;
    void on_batch_failed(const batch_failed& event) override;
    void on_lock_awaited(const lock_awaited& event) override;
    void on_read_finished(const read_finished& event) override;

private:
    std::vector<std::string> lines_;
};

} // namespace skein::support
