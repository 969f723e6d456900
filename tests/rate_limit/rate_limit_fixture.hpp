#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"
#include "support/temporary_directory.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, and another program's
/// connection beside it.
class rate_limit_fixture : public ::testing::Test {
protected:
    using waits = std::vector<operation<void>>;

    explicit rate_limit_fixture(clock::wall_time start = clock::wall_time(std::chrono::seconds{
                                    100}))
        : db_(directory_ / "test.db", manual_database::quick(),
              std::make_shared<testing::manual_clock>(start))
    {
    }

    rate_limit windows(std::int64_t permits, std::chrono::seconds per, std::string_view name = "r")
    {
        return db_.database().rate_limit(name, {.permits = permits, .per = per});
    }

    rate_limit paced(std::int64_t permits, std::chrono::seconds per, std::int64_t burst = 1,
                     std::string_view name = "r")
    {
        return db_.database().rate_limit(name, {.permits = permits,
                                                .per = per,
                                                .algorithm = rate_limit_algorithm::paced,
                                                .burst = burst});
    }

    bool try_take(const rate_limit& limit) { return db_.run(limit.try_take()); }

    /// How many permits there are now, which it takes; at most a hundred.
    int take_all(const rate_limit& limit)
    {
        int count = 0;
        while (count < 100 && try_take(limit)) {
            ++count;
        }
        return count;
    }

    waits start_takes(const rate_limit& limit, int count)
    {
        waits started;
        for (int each = 0; each < count; ++each) {
            started.push_back(db_.start(limit.take()));
        }
        db_.settle();
        return started;
    }

    static std::ptrdiff_t done(const waits& started)
    {
        return std::ranges::count_if(started, [](const auto& each) { return each.is_done(); });
    }

    std::vector<std::string> window_rows()
    {
        return other_.sql("SELECT name, window_start, count FROM _honker_rate_limits"
                          " ORDER BY name, window_start");
    }

    std::vector<std::string> paced_rows()
    {
        return other_.sql("SELECT name, arrival FROM _skein_rate_limits ORDER BY name");
    }

    static clock::wall_time epoch(std::chrono::seconds seconds)
    {
        return clock::wall_time(seconds);
    }

    temporary_directory directory_;
    manual_database db_;
    plain_connection other_{db_.path()};
};

/// Tests of what both algorithms do: a limit of one permit every ten seconds, windowed or paced.
class each_rate_limit : public rate_limit_fixture,
                        public ::testing::WithParamInterface<rate_limit_algorithm> {
protected:
    using rate_limit_fixture::rate_limit_fixture;

    rate_limit make(std::string_view name = "r", std::int64_t permits = 1)
    {
        return db_.database().rate_limit(
            name, {.permits = permits, .per = std::chrono::seconds{10}, .algorithm = GetParam()});
    }

    /// One whose permit is taken; the next is free ten seconds later.
    rate_limit make_empty(std::string_view name = "r")
    {
        rate_limit limit = make(name);
        EXPECT_TRUE(try_take(limit));
        return limit;
    }

    /// How many permits the file says were taken, or how far ahead it is: anything that was taken
    /// changes it.
    std::vector<std::string> rows()
    {
        return GetParam() == rate_limit_algorithm::paced ? paced_rows() : window_rows();
    }
};

inline constexpr rate_limit_algorithm both_algorithms[] = {rate_limit_algorithm::fixed_window,
                                                           rate_limit_algorithm::paced};

inline std::string algorithm_name(const ::testing::TestParamInfo<rate_limit_algorithm>& which)
{
    return which.param == rate_limit_algorithm::paced ? "Paced" : "FixedWindow";
}

} // namespace skein::support
