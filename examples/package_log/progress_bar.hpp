#pragma once

#include "ledger.hpp"
#include "terminal.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace package_log {

/// How far the work is: a bar on a terminal, a line for every quarter elsewhere.
class progress_bar {
public:
    progress_bar(terminal output, std::size_t total) : output_(output), total_(total) {}
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;
    ~progress_bar() { end(); }

    void show(const ledger::progress& progress);

    /// Stands beside the bar from now on.
    void remark(const std::string& text);

    /// What is printed next begins on a line of its own.
    void end();

private:
    [[nodiscard]] std::string bar() const;
    void draw();
    void print_quarters();

    terminal output_;
    std::size_t total_;
    ledger::progress progress_;
    std::string remark_;
    std::size_t quarters_ = 0;                       ///< printed
    std::chrono::steady_clock::time_point drawn_at_; ///< the epoch: not yet
};

} // namespace package_log
