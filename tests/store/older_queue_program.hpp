#pragma once

#include "support/plain_connection.hpp"

namespace skein::store {

/// The queue's tables as they were, oldest first.
enum class queue_format {
    without_claimed_at, ///< and without the scheduled state
    without_scheduled,  ///< jobs of the future are pending
    newest,
};

/// Creates the tables as the older program does, or what is missing of them.
void create_queue_format(const support::plain_connection& file, queue_format format);

} // namespace skein::store
