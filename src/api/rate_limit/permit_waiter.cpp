#include "api/rate_limit/permit_waiter.hpp"

namespace skein::api {

bool permit_waiter::has_work(sqlite::connection connection, clock::wall_time now)
{
    rate_limit_statements* const there = where_->store->find(connection, where_->create_schema);
    // Without tables there is something to do for the try that follows: it makes them.
    next_free_ = there == nullptr ? std::nullopt : where_->look(*there, now);
    return !next_free_;
}

runtime::serving permit_waiter::serve(runtime::batch& batch, std::span<waiter* const> line)
{
    runtime::serving all;
    while (all.served < line.size()) {
        const permit_answer answer = where_->take(batch);
        if (!answer.is_taken) {
            all.look_again = answer.next_free;
            break;
        }
        ++all.served;
    }
    return all;
}

} // namespace skein::api
