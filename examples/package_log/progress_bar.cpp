#include "progress_bar.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace package_log {
namespace {

constexpr std::size_t longest_bar = 30;
constexpr std::size_t beside_the_bar = 50; ///< columns, for the numbers and the remark
constexpr std::chrono::milliseconds between_drawings{40};

} // namespace

void progress_bar::show(const ledger::progress& progress)
{
    progress_ = progress;
    if (!output_.is_terminal) {
        print_quarters();
    } else if (progress_.total() == total_ ||
               std::chrono::steady_clock::now() - drawn_at_ >= between_drawings) {
        draw();
    }
}

void progress_bar::remark(const std::string& text)
{
    remark_ = text;
    if (output_.is_terminal) {
        draw();
    } else {
        std::cout << "         " << text << std::endl;
    }
}

void progress_bar::end()
{
    if (drawn_at_ != std::chrono::steady_clock::time_point()) {
        std::cout << std::endl;
        drawn_at_ = {};
    }
}

/// Each worker's share in a colour of its own, so that one sees who did what.
std::string progress_bar::bar() const
{
    const std::size_t width =
        std::clamp<std::size_t>(output_.columns, beside_the_bar + 1, beside_the_bar + longest_bar) -
        beside_the_bar;
    const std::size_t first = progress_.by_worker[0] * width / total_;
    const std::size_t both = progress_.total() * width / total_;
    if (!output_.has_colours) {
        return std::string(both, '#') + std::string(width - both, '.');
    }
    return output_.paint("42", std::string(first, ' ')) +
           output_.paint("46", std::string(both - first, ' ')) +
           output_.paint("100", std::string(width - both, ' '));
}

void progress_bar::draw()
{
    const std::string total = std::to_string(total_);
    std::cout << "\r  " << bar() << "  " << std::setw(static_cast<int>(total.size()))
              << progress_.total() << '/' << total << "  " << remark_ << std::flush;
    drawn_at_ = std::chrono::steady_clock::now();
}

void progress_bar::print_quarters()
{
    while (quarters_ < progress_.total() * 4 / total_) {
        std::cout << std::setw(5) << ++quarters_ * 25 << " %" << std::endl;
    }
}

} // namespace package_log
