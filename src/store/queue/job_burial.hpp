#pragma once

#include "sqlite/statement.hpp"
#include "store/queue/dead_letter_room.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace skein::store {

/// What is written as the reason when nobody gave one. Other programs look for these texts.
inline constexpr std::string_view expired_error = "expired";
inline constexpr std::string_view exhausted_error = "max attempts exceeded";

/// The statement that writes the dead letters of live jobs, up to the condition that chooses them;
/// they are then to be deleted. `?<first>` is the error text and the parameter after it the time of
/// death.
[[nodiscard]] std::string dead_letter_insert(int first);

/// Makes dead letters of jobs that nobody will finish.
class job_burial {
public:
    explicit job_burial(sqlite::connection connection);

    /// Nothing happens when there is no such job. `error` is written as it is. Wants a write
    /// transaction with a savepoint.
    void bury(std::int64_t id, std::string_view error, std::int64_t now);

private:
    dead_letter_room room_;
    sqlite::statement insert_;
    sqlite::statement remove_;
};

} // namespace skein::store
