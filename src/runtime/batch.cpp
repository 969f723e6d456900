#include "runtime/batch.hpp"

#include "runtime/waitlist.hpp"

#include <SQLiteCpp/Database.h>

namespace skein::runtime {

batch::batch(engine& owner, SQLite::Database& database, const clock& time, waitlist& waiting,
             event_log& events)
    : owner_(owner), database_(database), time_(time), waiting_(waiting), events_(events)
{
}

sqlite::connection batch::connection() const noexcept
{
    return sqlite::connection(database_.getHandle());
}

void batch::touch(const source& changed)
{
    waiting_.mark(changed);
}

void batch::touch_lines(const std::string& beginning)
{
    waiting_.mark_lines(beginning);
}

void batch::touch_everything()
{
    waiting_.mark_all();
}

void batch::run_checks()
{
    for (const auto& check : checks_) {
        check();
    }
    checks_.clear();
}

void batch::run_actions()
{
    for (const auto& action : actions_) {
        action();
    }
}

} // namespace skein::runtime
