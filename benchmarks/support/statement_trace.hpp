#pragma once

#include <skein/database.hpp>

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <string_view>

namespace benchmarks {

/// Watches the statements that a database runs from now on.
class statement_trace {
public:
    /// Has to be awaited once; the database must end before the trace.
    [[nodiscard]] auto start(const skein::database& database)
    {
        const auto listen = [this](const SQLite::Database& file) {
            sqlite3_trace_v2(file.getHandle(), SQLITE_TRACE_STMT, &statement_trace::note, this);
        };
        return database.read(listen);
    }

    [[nodiscard]] long statements() const noexcept { return statements_; }
    [[nodiscard]] long commits() const noexcept { return commits_; }

    /// When it last asked for the write lock.
    [[nodiscard]] std::chrono::steady_clock::time_point last_begin() const noexcept
    {
        return last_begin_;
    }

private:
    static int note(unsigned /*event*/, void* self, void* /*statement*/, void* text)
    {
        auto& counts = *static_cast<statement_trace*>(self);
        ++counts.statements_;
        const std::string_view what(static_cast<const char*>(text));
        if (what == "BEGIN IMMEDIATE") {
            counts.last_begin_ = std::chrono::steady_clock::now();
        } else if (what == "COMMIT") {
            ++counts.commits_;
        }
        return 0;
    }

    std::atomic<long> statements_{0};
    std::atomic<long> commits_{0};
    std::atomic<std::chrono::steady_clock::time_point> last_begin_{};
};

} // namespace benchmarks
