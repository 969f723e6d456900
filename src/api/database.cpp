#include <skein/database.hpp>

#include "api/database_owner.hpp"
#include "api/lock/named_lock_state.hpp"
#include "api/queue/queue_state.hpp"
#include "api/queue/results_state.hpp"
#include "api/rate_limit/rate_limit_state.hpp"
#include "api/schedule/scheduler_state.hpp"
#include "api/transport/transport_state.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/reading.hpp"
#include "runtime/unit.hpp"

namespace skein {

namespace {

class transaction_unit final : public runtime::unit {
public:
    explicit transaction_unit(std::function<void(transaction&)> work) : work_(std::move(work)) {}

    bool is_callback() const noexcept override { return true; }

    void run(runtime::batch& batch) override
    {
        transaction tx(batch);
        batch.touch_everything();
        work_(tx);
    }

private:
    std::function<void(transaction&)> work_;
};

class callback_reading final : public runtime::reading {
public:
    explicit callback_reading(std::function<void(const SQLite::Database&)> work)
        : work_(std::move(work))
    {
    }

    void run(const SQLite::Database& database) override { work_(database); }

private:
    std::function<void(const SQLite::Database&)> work_;
};

} // namespace

database::database(const std::filesystem::path& path, database_options options)
    : owner_(std::make_shared<api::database_owner>(path, std::move(options)))
{
}

database::database(asio::any_io_executor executor, const std::filesystem::path& path,
                   database_options options)
    : owner_(std::make_shared<api::database_owner>(executor, path, std::move(options)))
{
}

skein::transport database::transport(const transport_options& options) const
{
    return skein::transport(api::make_transport_state(owner_->engine(), options));
}

skein::queue database::queue(std::string_view name, const queue_options& options) const
{
    return skein::queue(api::make_queue_state(owner_->engine(), name, options));
}

skein::rate_limit database::rate_limit(std::string_view name,
                                       const rate_limit_options& options) const
{
    return skein::rate_limit(api::make_rate_limit_state(owner_->engine(), name, options));
}

skein::results database::results(const results_options& options) const
{
    return skein::results(api::make_results_state(owner_->engine(), options));
}

skein::scheduler database::scheduler(const scheduler_options& options) const
{
    return skein::scheduler(api::make_scheduler_state(owner_->engine(), options));
}

named_lock database::lock(std::string_view name, const lock_options& options) const
{
    return named_lock(api::make_named_lock_state(owner_->engine(), name, options));
}

asio::awaitable<void> database::close() const
{
    return runtime::await_closing(owner_->engine());
}

const std::filesystem::path& database::path() const noexcept
{
    return owner_->engine()->path();
}

asio::awaitable<void> database::run_transaction(std::function<void(skein::transaction&)> work) const
{
    return runtime::await_operation(owner_->engine(),
                                    std::make_shared<transaction_unit>(std::move(work)));
}

asio::awaitable<void> database::run_read(std::function<void(const SQLite::Database&)> work) const
{
    return runtime::await_operation(owner_->engine(),
                                    std::make_shared<callback_reading>(std::move(work)));
}

} // namespace skein
