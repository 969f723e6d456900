#pragma once

#include "queue/queue_fixture.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A queue whose jobs die.
class dead_letter_fixture : public queue_fixture {
protected:
    using ids_type = std::vector<std::int64_t>;

    static clock::wall_time at(std::int64_t second)
    {
        return clock::wall_time(std::chrono::seconds(second));
    }

    static ids_type ids(const std::vector<job_info>& letters)
    {
        ids_type all;
        for (const job_info& each : letters) {
            all.push_back(each.id);
        }
        return all;
    }

    /// A job that fails now.
    std::int64_t die(std::string_view reason = "rejected", std::string_view payload = "[1]")
    {
        enqueue(payload, {.priority = 2, .max_attempts = 5});
        job failing = claim();
        EXPECT_TRUE(db_.run(failing.fail(reason)));
        return failing.id();
    }

    /// So many letters that another program writes, which have died over 90 seconds. Their numbers
    /// are used up, as those of jobs are.
    void write_letters(int count, const std::string& reason = "'e'")
    {
        const std::string number = std::to_string(count);
        other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
                   number +
                   ") INSERT INTO _honker_dead (queue, payload, last_error, died_at, max_attempts)"
                   " SELECT 'q', i, " +
                   reason +
                   ", i % 90, 1 FROM n;"
                   "INSERT INTO _honker_live (id, queue, payload) VALUES (" +
                   number + ", 'q', '1'); DELETE FROM _honker_live");
    }

    ids_type left(const dead_letter_list_options& options = {.limit = 10'000})
    {
        return ids(db_.run(letters_.list(options)));
    }

    skein::dead_letters letters_ = queue_.dead_letters();
};

} // namespace skein::support
