#pragma once

#include "api/outbox/outbox_tables.hpp"
#include "api/seconds.hpp"
#include "sqlite/atomic_write.hpp"

#include <skein/clock.hpp>
#include <skein/outbox.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace skein::api {

/// A connection of the user's, and what was prepared on it.
class outbox_state {
public:
    /// Throws `errc::invalid_argument`.
    outbox_state(sqlite::connection connection, const outbox_options& options);

    outbox_tables<outbox_queues> queues;
    outbox_tables<outbox_transport> transport;
    outbox_tables<outbox_notifications> notifications;
    outbox_tables<outbox_streams> streams;

    [[nodiscard]] std::size_t length_limit() const noexcept { return connection_.length_limit(); }
    [[nodiscard]] bool creates_schema() const noexcept { return create_schema_; }
    [[nodiscard]] bool fair_turns() const noexcept { return fair_turns_; }

    /// Runs `work(statements, now)`, `now` in epoch seconds, whole or not at all, and returns what
    /// it returns. It is called again when it was found that the tables had vanished. Throws
    /// `skein::error`.
    template <class Tables, class Work>
    auto write(Tables& tables, Work work)
    {
        const std::int64_t before = connection_.last_insert_rowid();
        try {
            auto result = write_again_if_vanished(tables, work);
            connection_.set_last_insert_rowid(before);
            return result;
        } catch (...) {
            connection_.set_last_insert_rowid(before);
            rethrow(std::current_exception());
        }
    }

private:
    template <class Tables, class Work>
    auto write_again_if_vanished(Tables& tables, Work& work)
    {
        if (auto* const there = tables.opened()) {
            try {
                return atomic_.run([&] { return work(*there, now()); });
            } catch (const sqlite::error& refusal) {
                if (!tables.explains(refusal, connection_)) {
                    throw;
                }
            }
        }
        return atomic_.run([&] {
            const std::int64_t started = now();
            return work(tables.ready(connection_, create_schema_, started), started);
        });
    }

    [[nodiscard]] std::int64_t now() const { return to_seconds(clock_->wall_now()); }
    [[noreturn]] void rethrow(const std::exception_ptr& thrown) const;

    sqlite::connection connection_;
    bool create_schema_;
    bool fair_turns_;
    std::shared_ptr<clock> clock_;
    sqlite::atomic_write atomic_;
};

} // namespace skein::api
