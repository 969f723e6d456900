#include "api/queue_store.hpp"

#include "api/seconds.hpp"

namespace skein::api {

queue_statements::queue_statements(sqlite::connection connection)
    : enqueuer(connection), claimer(connection), forecast(connection), housekeeping(connection),
      finisher(connection), canceller(connection), dead(connection), inspection(connection),
      results(connection), ends(connection), savepoint(connection, "skein_queue")
{
}

queue_statements& queue_store::ready(runtime::batch& batch, bool create_schema)
{
    if (is_usable(create_schema)) {
        return *statements_;
    }
    const sqlite::connection connection = batch.connection();
    store::queue_shape shape = store::inspect_queue(connection);
    if (create_schema && shape != store::queue_shape::complete) {
        store::create_queue(connection, to_seconds(batch.now()));
        shape = store::queue_shape::complete;
    }
    if (shape != store::queue_shape::missing) {
        batch.after_commit([this, connection] { note_commit(connection); });
    }
    return open(connection, shape);
}

queue_statements* queue_store::find(sqlite::connection connection, bool create_schema)
{
    if (!is_usable(create_schema)) {
        const store::queue_shape shape = store::inspect_queue(connection);
        if (create_schema && shape != store::queue_shape::complete) {
            return nullptr;
        }
        open(connection, shape);
        is_committed_ = shape != store::queue_shape::missing;
    }
    return statements_.get();
}

/// The tables may have vanished all the same, with a savepoint of the user's.
void queue_store::note_commit(sqlite::connection connection) noexcept
{
    try {
        is_committed_ = is_committed_ || store::inspect_queue(connection) == shape_;
    } catch (const sqlite::error&) {
        // The next one looks again.
    }
}

void queue_store::touch_end(runtime::batch& batch, std::int64_t job_id)
{
    batch.touch_line(end_of(job_id));
}

std::string queue_store::end_of(std::int64_t job_id)
{
    return "end of " + std::to_string(job_id);
}

std::optional<clock::wall_time> queue_store::next_due(sqlite::connection /*connection*/,
                                                      clock::wall_time /*since*/)
{
    return std::nullopt;
}

void queue_store::disconnect() noexcept
{
    statements_.reset();
    is_committed_ = false;
}

bool queue_store::is_usable(bool create_schema) const noexcept
{
    return statements_ && is_committed_ &&
           (!create_schema || shape_ == store::queue_shape::complete);
}

queue_statements& queue_store::open(sqlite::connection connection, store::queue_shape shape)
{
    if (!statements_ || shape != shape_) {
        is_committed_ = false;
        statements_ = std::make_unique<queue_statements>(connection);
        shape_ = shape;
    }
    return *statements_;
}

} // namespace skein::api
