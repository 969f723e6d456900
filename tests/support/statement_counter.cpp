#include "support/statement_counter.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace skein::support {

struct statement_counter::state {
    std::mutex mutex;
    std::vector<std::string> statements;
    std::vector<std::pair<std::string, std::function<void()>>> hooks;

    void started(std::string_view text)
    {
        // SQLite tells a trigger's statements as comments.
        if (!text.starts_with("--")) {
            const std::lock_guard lock(mutex);
            statements.emplace_back(text);
        }
    }

    void finished(std::string_view text)
    {
        std::vector<std::function<void()>> called;
        {
            const std::lock_guard lock(mutex);
            for (const auto& [part, hook] : hooks) {
                if (text.find(part) != std::string_view::npos) {
                    called.push_back(hook);
                }
            }
        }
        for (const auto& hook : called) {
            hook();
        }
    }

    static int trace(unsigned event, void* self, void* subject, void* detail)
    {
        auto& watching = *static_cast<state*>(self);
        if (event == SQLITE_TRACE_STMT) {
            watching.started(static_cast<const char*>(detail));
        } else if (const char* text = sqlite3_sql(static_cast<sqlite3_stmt*>(subject))) {
            watching.finished(text);
        }
        return 0;
    }
};

statement_counter::statement_counter(sqlite3* connection)
    : connection_(connection), state_(std::make_unique<state>())
{
    sqlite3_trace_v2(connection_, SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE, &state::trace,
                     state_.get());
}

statement_counter::~statement_counter()
{
    sqlite3_trace_v2(connection_, 0, nullptr, nullptr);
}

std::vector<std::string> statement_counter::statements() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->statements;
}

std::size_t statement_counter::count() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->statements.size();
}

std::size_t statement_counter::count(std::string_view part) const
{
    const std::lock_guard lock(state_->mutex);
    return static_cast<std::size_t>(std::count_if(
        state_->statements.begin(), state_->statements.end(),
        [&](const std::string& each) { return each.find(part) != std::string::npos; }));
}

void statement_counter::reset()
{
    const std::lock_guard lock(state_->mutex);
    state_->statements.clear();
}

void statement_counter::when_finished(std::string part, std::function<void()> hook)
{
    const std::lock_guard lock(state_->mutex);
    state_->hooks.emplace_back(std::move(part), std::move(hook));
}

} // namespace skein::support
