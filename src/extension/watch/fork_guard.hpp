#pragma once

#include <cstdint>
#include <mutex>

namespace skein::extension {

/// While somebody holds it, the process does not fork. What threads of ours do with SQLite, they do
/// under it: SQLite has locks of its own, and one that is held at a fork is held in the child for
/// ever. It guards what the process has one of, too. Not to be held while one waits for a thread.
/// Throws `std::system_error` when the system refuses to tell of forks.
[[nodiscard]] std::unique_lock<std::mutex> hold_forks();

/// How many forks lie between the first process and this one. Costs no system call.
[[nodiscard]] std::uint64_t count_forks() noexcept;

/// What a process has one of. A child made by fork gets a new one and never touches its parent's,
/// whose threads it does not have; and none is ever destroyed, since threads run until the very end
/// of the process.
template <class Value>
class one_for_each_process {
public:
    /// Only for those who hold forks off.
    [[nodiscard]] Value& get()
    {
        if (value_ == nullptr || forks_ != count_forks()) {
            value_ = new Value();
            forks_ = count_forks();
        }
        return *value_;
    }

private:
    Value* value_ = nullptr;
    std::uint64_t forks_ = 0;
};

} // namespace skein::extension
