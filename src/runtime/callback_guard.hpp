#pragma once

#include "sqlite/connection.hpp"

#include <string>

namespace skein::runtime {

class engine;

/// Keeps users' callbacks from doing what would harm the other operations of a batch: ending the
/// transaction they run in, or writing where they may only read. SQLite asks it whenever a
/// statement is prepared; while no callback runs it allows everything.
class callback_guard {
public:
    enum class mode { off, writing, reading };

    /// `savepoint` is the name of ours, which callbacks may not touch.
    callback_guard(const engine& owner, sqlite::connection connection, std::string savepoint);
    callback_guard(const callback_guard&) = delete;
    callback_guard& operator=(const callback_guard&) = delete;
    ~callback_guard();

    /// While one of these lives, a callback runs. At its end the statements that the callback has
    /// left unfinished are reset.
    class scope {
    public:
        scope(callback_guard& guard, mode kind) noexcept;
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;
        ~scope();

    private:
        friend class callback_guard;

        callback_guard& guard_;
        const scope* const outer_; ///< on the same thread, of another database
    };

    /// As what a callback of this database runs on the calling thread, if one does.
    [[nodiscard]] static mode here(const engine& owner) noexcept;

private:
    static int authorize(void* self, int action, const char* first, const char* second,
                         const char* schema, const char* trigger);
    static int refuse_commit(void* self);
    [[nodiscard]] bool allows(int action, const char* first, const char* second) const;

    const engine& owner_;
    sqlite::connection connection_;
    std::string savepoint_;
    mode mode_ = mode::off;
};

} // namespace skein::runtime
