#pragma once

#include "store/queue/job_fence.hpp"
#include "store/queue/job_finisher.hpp"
#include "store/queue/keyed_enqueuer.hpp"
#include "support/plain_connection.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// A program that works on the queues of a file, over a connection of its own. What it does is a
/// transaction each.
class jobs_program {
public:
    explicit jobs_program(const std::filesystem::path& path) : file_(path)
    {
        file_.sql("PRAGMA synchronous = off");
    }
    jobs_program(const jobs_program&) = delete;
    jobs_program& operator=(const jobs_program&) = delete;
    virtual ~jobs_program() = default;

    virtual std::int64_t enqueue(const new_job& job, std::int64_t now) = 0;
    virtual std::vector<job_fence> claim(std::string_view queue, std::string_view worker,
                                         std::int64_t visibility, std::int64_t most,
                                         std::int64_t now) = 0;
    virtual std::int64_t sweep_expired(std::string_view queue, std::int64_t now) = 0;
    virtual bool ack(const job_fence& fence, std::int64_t now) = 0;
    virtual retry_outcome retry(const job_fence& fence, std::int64_t delay, std::int64_t now) = 0;
    virtual bool fail(const job_fence& fence, std::int64_t now) = 0;
    virtual bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now) = 0;
    virtual bool cancel(std::string_view queue, std::int64_t id) = 0;

    /// Every program may set it as it likes.
    void let_triggers_recurse(bool may) const
    {
        file_.sql(may ? "PRAGMA recursive_triggers = 1" : "PRAGMA recursive_triggers = 0");
    }

    [[nodiscard]] const support::plain_connection& file() const noexcept { return file_; }

protected:
    support::plain_connection file_;
};

/// One that knows the shared tables, and nothing of what stands beside them.
class shared_tables_program final : public jobs_program {
public:
    using jobs_program::jobs_program;

    std::int64_t enqueue(const new_job& job, std::int64_t now) override;
    std::vector<job_fence> claim(std::string_view queue, std::string_view worker,
                                 std::int64_t visibility, std::int64_t most,
                                 std::int64_t now) override;
    std::int64_t sweep_expired(std::string_view queue, std::int64_t now) override;
    bool ack(const job_fence& fence, std::int64_t now) override;
    retry_outcome retry(const job_fence& fence, std::int64_t delay, std::int64_t now) override;
    bool fail(const job_fence& fence, std::int64_t now) override;
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now) override;
    bool cancel(std::string_view queue, std::int64_t id) override;

    /// In one statement.
    void change_all_that_wait(std::string_view queue, std::int64_t priority) const;
    void cancel_all(std::string_view queue, std::int64_t priority) const;

private:
    std::vector<std::string> run(std::string_view statements) const;
    [[nodiscard]] bool finds(const std::string& condition) const;
    void bury(const std::string& those, const std::string& error, std::int64_t now) const;
};

/// One that works with our classes.
class keyed_jobs_program final : public jobs_program {
public:
    /// Makes the tables unless they are there.
    explicit keyed_jobs_program(const std::filesystem::path& path);
    ~keyed_jobs_program() override;

    enqueued_job enqueue(const new_job& job, const job_keys& keys, std::int64_t now);
    bool change(std::string_view queue, std::int64_t id, const job_change& wanted,
                std::int64_t now);
    bool release(const job_fence& fence, std::int64_t now);
    bool snooze(const job_fence& fence, std::int64_t delay, std::int64_t now);
    bool pause(std::string_view queue);
    bool resume(std::string_view queue);
    std::int64_t move_slice(std::string_view queue, std::int64_t most);
    bool request_stop(std::string_view queue, std::int64_t id);
    [[nodiscard]] bool is_stop_requested(std::int64_t id, std::int64_t attempt);
    [[nodiscard]] bool has_work(std::string_view queue, std::int64_t now);
    [[nodiscard]] std::optional<std::int64_t> next_claim_at(std::string_view queue,
                                                            std::int64_t now);
    [[nodiscard]] std::optional<std::int64_t> holder(std::string_view queue, std::string_view key,
                                                     std::int64_t now);

    std::int64_t enqueue(const new_job& job, std::int64_t now) override;
    std::vector<job_fence> claim(std::string_view queue, std::string_view worker,
                                 std::int64_t visibility, std::int64_t most,
                                 std::int64_t now) override;
    std::int64_t sweep_expired(std::string_view queue, std::int64_t now) override;
    bool ack(const job_fence& fence, std::int64_t now) override;
    retry_outcome retry(const job_fence& fence, std::int64_t delay, std::int64_t now) override;
    bool fail(const job_fence& fence, std::int64_t now) override;
    bool extend(const job_fence& fence, std::int64_t seconds, std::int64_t now) override;
    bool cancel(std::string_view queue, std::int64_t id) override;

private:
    struct statements;

    template <class Function>
    auto write(Function&& function);

    std::unique_ptr<statements> with_;
};

} // namespace skein::store
