#pragma once

#include "ledger.hpp"
#include "log_file.hpp"
#include "progress_bar.hpp"

#include <chrono>
#include <cstddef>

namespace package_log {

/// What was measured.
struct outcome {
    std::size_t published = 0;
    ledger::progress progress;
    ledger::totals totals;
    ledger::package_states states;
    std::size_t killed = 0;  ///< which worker, by its place in `ledger::workers`
    std::size_t in_hand = 0; ///< how many events it had in hand; none: it could not be killed
    std::chrono::duration<double> elapsed{};
};

/// The user, or the system, wants the program to end.
struct interrupted {
    int signal = 0;
};

/// Publishes the log, has two processes work on it, and kills one of them half way.
///
/// Everything that it makes, processes and files, is gone when it returns or throws.
/// Throws: `interrupted`; whatever goes wrong.
[[nodiscard]] outcome run_demo(const log_file& log, progress_bar& bar);

} // namespace package_log
