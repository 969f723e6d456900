#include "runtime/reader.hpp"

#include "runtime/failure.hpp"

#include <SQLiteCpp/Database.h>

namespace skein::runtime {

reader::reader(SQLite::Database& database, callback_guard& guard, std::string file,
               const clock& time, event_sink& told)
    : database_(database), guard_(guard), file_(std::move(file)), time_(time), told_(told),
      connection_(database.getHandle()), begin_(connection_, "BEGIN"),
      take_snapshot_(connection_, "SELECT 1 FROM sqlite_schema LIMIT 1"),
      rollback_(connection_, "ROLLBACK")
{
}

bool reader::run(reading& wanted)
{
    const bool is_timed = told_.is_heard();
    const clock::steady_time started = is_timed ? time_.steady_now() : clock::steady_time();
    std::exception_ptr failure;
    try {
        if (!begin()) {
            return false;
        }
        const callback_guard::scope guarded(guard_, callback_guard::mode::reading);
        wanted.run_for_caller([&] { wanted.run(database_); });
    } catch (...) {
        failure = translate(std::current_exception(), file_);
    }
    end();
    if (is_timed) {
        tell_end(started, failure != nullptr);
    }
    wanted.complete(std::move(failure));
    return true;
}

bool reader::begin()
{
    begin_.run();
    try {
        take_snapshot_.run();
        return true;
    } catch (const sqlite::error& refusal) {
        if (!refusal.is_busy()) {
            throw;
        }
    }
    end();
    return false;
}

void reader::end()
{
    if (connection_.in_transaction()) {
        rollback_.run();
    }
}

void reader::tell_end(clock::steady_time begin, bool has_failed)
{
    const read_finished event{time_.steady_now() - begin, has_failed};
    told_.tell([&](observer& who) { who.on_read_finished(event); });
}

} // namespace skein::runtime
