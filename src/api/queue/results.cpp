#include <skein/results.hpp>

#include "api/claim_arguments.hpp"
#include "api/misuse.hpp"
#include "api/payload_room.hpp"
#include "api/queue/job_end_waiter.hpp"
#include "api/queue/queue_state.hpp"
#include "api/seconds.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/reading.hpp"
#include "runtime/unit.hpp"
#include "store/json_text.hpp"

#include <skein/error.hpp>

#include <SQLiteCpp/Database.h>

namespace skein {

namespace {

using state_handle = std::shared_ptr<const api::results_state>;

std::int64_t checked_ttl(const save_options& options)
{
    constexpr std::int64_t for_ever = 0;
    if (options.ttl && options.ttl->count() <= 0) {
        throw error(errc::invalid_argument, "ttl: " + std::to_string(options.ttl->count()) +
                                                " s is not accepted; more than zero is");
    }
    return options.ttl ? options.ttl->count() : for_ever;
}

/// Saves one result.
class save_unit final : public runtime::unit {
public:
    /// Throws `errc::invalid_argument`, `errc::invalid_payload` and `errc::payload_too_large`.
    save_unit(state_handle where, std::int64_t job_id, std::string_view text,
              const save_options& options)
        : where_(std::move(where)), job_id_(job_id), ttl_(checked_ttl(options))
    {
        api::require_room(*where_->engine, text);
        api::checked([&] { store::require_json(text); });
        text_ = text;
    }

    void run(runtime::batch& batch) override
    {
        where_->ready(batch).results.save(job_id_, text_, ttl_, api::to_seconds(batch.now()));
        api::queue_store::touch_end(batch, job_id_);
    }

private:
    state_handle where_;
    std::int64_t job_id_;
    std::int64_t ttl_; ///< seconds
    std::string text_;
};

class result_reading final : public runtime::reading {
public:
    using result_type = std::optional<std::string>;

    result_reading(state_handle where, std::int64_t job_id)
        : where_(std::move(where)), job_id_(job_id)
    {
    }

    void run(const SQLite::Database& database) override
    {
        const sqlite::connection connection(database.getHandle());
        // To look, our additions are not needed, nor is anything else that an upgrade brings.
        api::queue_statements& there = *where_->store->find(connection, false);
        if (where_->create_schema && where_->store->opened() == nullptr &&
            !store::find_queue(connection).has_results) {
            return;
        }
        result = there.results.get(job_id_, api::to_seconds(where_->engine->wall_now()));
    }

    std::optional<std::string> result;

private:
    state_handle where_;
    std::int64_t job_id_;
};

asio::awaitable<std::optional<job_end>> start_wait(const state_handle& state, std::int64_t job_id,
                                                   runtime::patience how_long)
{
    return runtime::await_result(state->engine,
                                 std::make_shared<api::job_end_waiter>(state, job_id, how_long));
}

asio::awaitable<job_end> expect_end(asio::awaitable<std::optional<job_end>> wait)
{
    std::optional<job_end> end = co_await std::move(wait);
    co_return *std::move(end);
}

} // namespace

std::shared_ptr<const api::results_state>
api::make_results_state(std::shared_ptr<runtime::engine> engine, const results_options& options)
{
    std::shared_ptr<queue_store> store = queue_store_of(*engine);
    return std::make_shared<results_state>(
        results_state{std::move(engine), std::move(store), options.create_schema});
}

const std::string& job_end::required_result() const
{
    if (!result) {
        throw error(errc::invalid_payload,
                    death ? "no result: the job has died: " + death->last_error.value_or("")
                          : std::string("no result: the job is gone"));
    }
    return *result;
}

results::results(std::shared_ptr<const api::results_state> state) noexcept
    : state_(std::move(state))
{
}

asio::awaitable<void> results::save(std::int64_t job_id, std::string_view text,
                                    save_options options) const
{
    state_->engine->require_outside_callback("save(tx, job_id, text)");
    return runtime::await_operation(state_->engine,
                                    std::make_shared<save_unit>(state_, job_id, text, options));
}

void results::save(transaction& tx, std::int64_t job_id, std::string_view text,
                   save_options options) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    save_unit(state_, job_id, text, options).run(batch);
}

asio::awaitable<std::optional<std::string>> results::get(std::int64_t job_id) const
{
    state_->engine->require_outside_callback("get(tx, job_id)");
    return runtime::await_result(state_->engine, std::make_shared<result_reading>(state_, job_id));
}

std::optional<std::string> results::get(transaction& tx, std::int64_t job_id) const
{
    runtime::batch& batch = api::own_batch(tx.batch_, *state_->engine);
    return state_->ready(batch).results.get(job_id, api::to_seconds(batch.now()));
}

asio::awaitable<job_end> results::wait(std::int64_t job_id) const
{
    return expect_end(start_wait(state_, job_id, {}));
}

asio::awaitable<std::optional<job_end>> results::wait_within(duration limit,
                                                             std::int64_t job_id) const
{
    return start_wait(state_, job_id, api::patience_of(limit));
}

bool results::operator==(const results& other) const noexcept
{
    return state_->store == other.state_->store;
}

} // namespace skein
