#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <string_view>

namespace skein::store {

/// Pauses queues, and resumes them, for every program that uses the file. See `held_job_tables`.
///
/// A queue is paused from the moment on in which it is said to be: no claim takes a job of it. Its
/// jobs are then put aside in slices, so that nobody walks past them, however many they are; and
/// come back in slices. What is killed meanwhile leaves a queue that is paused, or one whose jobs
/// come back as others are claimed or end.
class queue_pauses {
public:
    explicit queue_pauses(sqlite::connection connection);

    /// Return whether that has changed anything. Want a write transaction.
    bool pause(std::string_view queue);
    bool resume(std::string_view queue);

    /// Puts aside at most `most` jobs of a queue that is paused, or gives back as many of one that
    /// is not, those that are due first. Returns how many those were: fewer than `most` when it is
    /// done. Wants a write transaction with a savepoint.
    std::int64_t move_slice(std::string_view queue, std::int64_t most);

private:
    [[nodiscard]] bool is_paused(std::string_view queue);

    sqlite::statement pause_;
    sqlite::statement resume_;
    sqlite::statement find_;
    sqlite::statement hold_pending_;
    sqlite::statement hold_scheduled_;
    sqlite::statement give_back_;
};

} // namespace skein::store
