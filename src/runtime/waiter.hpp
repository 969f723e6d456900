#pragma once

#include "runtime/batch.hpp"
#include "runtime/operation.hpp"
#include "runtime/source.hpp"

#include <skein/clock.hpp>

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skein::runtime {

class waiter;
struct line;

/// How long a waiter waits.
struct patience {
    /// Absent: without limit. Zero or less: not at all.
    std::optional<clock::steady_time::duration> limit;

    [[nodiscard]] bool is_none() const noexcept { return limit && *limit <= limit->zero(); }
};

/// How a line was served.
struct serving {
    std::size_t served = 0; ///< how many, from the first on, have got something
    /// Whether there is nothing for the others. If not, the next batch goes on.
    bool is_finished = true;
    /// When time alone may give something to the others; see `waiter::look_again`.
    std::optional<clock::wall_time> look_again = {};
};

/// An operation that takes something from a source, and waits while there is nothing.
class waiter : public operation {
public:
    explicit waiter(patience how_long) : patience_(how_long) {}

    [[nodiscard]] const patience& how_long() const noexcept { return patience_; }

    /// Where it takes from.
    [[nodiscard]] virtual source& origin() const noexcept = 0;

    /// What it accepts: waiters of the same text form one line.
    [[nodiscard]] virtual const std::string& accepts() const noexcept = 0;

    /// Whether there may be something for this line. Only reads.
    [[nodiscard]] virtual bool has_work(sqlite::connection connection, clock::wall_time now) = 0;

    /// When time alone may make something for this line, as far as `has_work`, which has just found
    /// nothing, has seen; nothing when only a commit can, or when the source tells.
    [[nodiscard]] virtual std::optional<clock::wall_time> look_again() const noexcept { return {}; }

    /// Whether it is content with what `has_work` has found: nothing is taken, so that no write
    /// lock is needed. All of a line are alike in this.
    [[nodiscard]] virtual bool only_reads() const noexcept { return false; }

    /// Gives what `has_work` has found to another waiter of the line; only if it only reads.
    virtual void share_with(waiter& /*other*/) const {}

    /// Whether it has to look when another connection has committed. Those that only wait for
    /// their time do not, and need nobody to watch the file.
    [[nodiscard]] virtual bool heeds_others() const noexcept { return true; }

    /// Takes something for each of these waiters of one line, this one the first of them, inside
    /// the batch's transaction.
    ///
    /// Called again, after what it did has been undone, when it has failed for several. Not called
    /// while it only reads.
    [[nodiscard]] virtual serving serve(batch& /*batch*/, std::span<waiter* const> /*line*/)
    {
        return {};
    }

    void arrive(engine& engine, std::shared_ptr<operation> self) override;
    bool withdraw(engine& engine) override;

private:
    friend class waitlist;

    patience patience_;
    line* line_ = nullptr;
    std::list<std::shared_ptr<waiter>>::iterator place_;
    std::optional<std::multimap<clock::steady_time, waiter*>::iterator> deadline_;
};

} // namespace skein::runtime
