#pragma once

#include <cstdint>

namespace skein::runtime {

/// The process that this was made in. A child of its, made by fork, has a copy of everything, and
/// may use none of it: SQLite's locks and the threads stay with the parent, and what another thread
/// held at the fork stays locked for ever.
///
/// Asking costs no system call. Thread-safety: safe from any thread, and in a child.
class home_process {
public:
    home_process();

    /// Whether the caller is in a child of that process.
    [[nodiscard]] bool is_left() const noexcept;

private:
    std::uint64_t forks_;
};

} // namespace skein::runtime
