#pragma once

#include "sqlite/connection.hpp"

#include <string>

namespace skein::runtime {

/// Keeps users' callbacks from doing what would harm the other operations of a batch: ending the
/// transaction they run in, or writing where they may only read. SQLite asks it whenever a
/// statement is prepared; while no callback runs it allows everything.
class callback_guard {
public:
    enum class mode { off, writing, reading };

    /// `savepoint` is the name of ours, which callbacks may not touch.
    callback_guard(sqlite::connection connection, std::string savepoint);
    callback_guard(const callback_guard&) = delete;
    callback_guard& operator=(const callback_guard&) = delete;
    ~callback_guard();

    /// While one of these lives, a callback runs. At its end the statements that the callback has
    /// left unfinished are reset.
    class scope {
    public:
        scope(callback_guard& guard, mode kind) noexcept : guard_(guard) { guard_.mode_ = kind; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;
        ~scope()
        {
            guard_.mode_ = mode::off;
            guard_.connection_.reset_statements();
        }

    private:
        callback_guard& guard_;
    };

private:
    static int authorize(void* self, int action, const char* first, const char* second,
                         const char* schema, const char* trigger);
    static int refuse_commit(void* self);
    [[nodiscard]] bool allows(int action, const char* first, const char* second) const;

    sqlite::connection connection_;
    std::string savepoint_;
    mode mode_ = mode::off;
};

} // namespace skein::runtime
