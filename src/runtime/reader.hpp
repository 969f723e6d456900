#pragma once

#include "runtime/callback_guard.hpp"
#include "runtime/event_sink.hpp"
#include "runtime/reading.hpp"
#include "sqlite/statement.hpp"

#include <skein/clock.hpp>

#include <string>

namespace skein::runtime {

/// Runs readings, each on a state of the file that does not change meanwhile.
class reader {
public:
    reader(SQLite::Database& database, callback_guard& guard, std::string file, const clock& time,
           event_sink& told);

    /// Runs and completes one. Returns false when another process keeps the file from being read:
    /// the reading has not been called then.
    bool run(reading& wanted);

private:
    bool begin();
    void end();
    void tell_end(clock::steady_time begin, bool has_failed);

    SQLite::Database& database_;
    callback_guard& guard_;
    std::string file_;
    const clock& time_;
    event_sink& told_;
    sqlite::connection connection_;
    sqlite::statement begin_;
    sqlite::statement take_snapshot_;
    sqlite::statement rollback_;
};

} // namespace skein::runtime
