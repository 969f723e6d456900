#pragma once

#include "sqlite/statement.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skein::store {

/// Tells when a claim will find something, so that nobody has to ask again and again.
class claim_forecast {
public:
    explicit claim_forecast(sqlite::connection connection);

    /// The first moment, in epoch seconds, at which a job of the queue can be claimed if nothing
    /// else happens: `now` when one can be, otherwise the end of a delay or the second after a
    /// lease. Nothing when there is no such job; one that has expired, whose last attempt is under
    /// way, or that is held (see `held_job_tables`), is none. But where jobs are held, each end of
    /// a lease and each expiry counts: with the job that ends then another one may be free.
    ///
    /// Where more than 64 such jobs stand in front, it does not walk past them: the moment is
    /// then too early, never too late, and a claim at that moment takes them out of the way.
    /// Only reads.
    [[nodiscard]] std::optional<std::int64_t> next_claim_at(std::string_view queue,
                                                            std::int64_t now);

private:
    [[nodiscard]] std::optional<std::int64_t> next_end_at(std::string_view queue, std::int64_t now);

    sqlite::statement find_ready_;
    sqlite::statement find_held_;
    sqlite::statement first_end_;
    sqlite::statement first_pending_;
    sqlite::statement walk_leases_;
    sqlite::statement walk_scheduled_;
    sqlite::statement walk_beyond_held_;
};

} // namespace skein::store
