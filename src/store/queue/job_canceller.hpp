#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// Takes jobs back. A worker that has the job learns of it when it finishes: its fence is stale.
class job_canceller {
public:
    explicit job_canceller(sqlite::connection connection);

    /// Removes the job in whatever state it is, leaving no dead letter; the second form only if it
    /// is in this queue. False when there is no such live job. Want a write transaction.
    bool cancel(std::int64_t id);
    bool cancel(std::string_view queue, std::int64_t id);

private:
    sqlite::statement cancel_;
    sqlite::statement cancel_in_queue_;
};

} // namespace skein::store
