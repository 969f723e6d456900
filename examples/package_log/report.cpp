#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace package_log {
namespace {

constexpr const char* bold = "1";
constexpr const char* green = "1;32";
constexpr const char* red = "1;31";
constexpr const char* faint = "2";

class table {
public:
    explicit table(const terminal& output) : output_(output) {}

    void row(const char* colour, const char* name, std::size_t number, const std::string& note = "")
    {
        std::ostringstream padded;
        padded << std::setw(7) << number;
        std::cout << "  " << std::left << std::setw(13) << name
                  << output_.paint(colour, padded.str());
        if (!note.empty()) {
            std::cout << "   " << output_.paint(faint, note);
        }
        std::cout << '\n';
    }

    void remark(const std::string& text)
    {
        if (!text.empty()) {
            std::cout << std::string(25, ' ') << output_.paint(faint, '(' + text + ')') << '\n';
        }
    }

    /// A number that is right when it is as expected.
    bool check(const char* name, std::size_t number, std::size_t expected,
               const std::string& note = "")
    {
        const bool is_right = number == expected;
        row(is_right ? green : red, name, number,
            is_right ? note : std::to_string(expected) + " expected");
        return is_right;
    }

private:
    const terminal& output_;
};

std::string shares(const outcome& measured)
{
    const auto& [first, second] = measured.progress.by_worker;
    return "by " + ledger::workers[0] + ": " + std::to_string(first) + ", by " +
           ledger::workers[1] + ": " + std::to_string(second);
}

std::string what_the_kill_did(const outcome& measured)
{
    if (measured.in_hand == 0) {
        return "the work was over before a worker could be killed";
    }
    std::string text = ledger::workers[measured.killed] + " was killed with " +
                       std::to_string(measured.in_hand) + " events in hand";
    if (measured.totals.redelivered > measured.in_hand) {
        text += "; the others outlived their leases";
    }
    return text;
}

std::size_t speed(const outcome& measured)
{
    const double seconds = std::max(measured.elapsed.count(), 1e-3);
    return static_cast<std::size_t>(static_cast<double>(measured.totals.processed) / seconds);
}

std::string duration(const outcome& measured)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << measured.elapsed.count()
         << " s from the first publish to the last acknowledgement";
    return text.str();
}

void show_some(const std::vector<std::string>& differences)
{
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < std::min(shown, differences.size()); ++i) {
        std::cerr << "package_log: " << differences[i] << '\n';
    }
    if (differences.size() > shown) {
        std::cerr << "package_log: and " << differences.size() - shown << " more\n";
    }
}

} // namespace

bool report(const terminal& output, std::size_t expected, const outcome& measured,
            const comparison& states)
{
    table rows(output);
    const ledger::totals& totals = measured.totals;

    std::cout << '\n';
    bool good = rows.check("published", measured.published, expected);
    good &= rows.check("processed", totals.processed, expected, shares(measured));
    rows.row(bold, "redelivered", totals.redelivered, what_the_kill_did(measured));
    good &= rows.check("repeated", totals.repeated, 0);
    good &= rows.check("out of order", totals.out_of_order, 0);
    good &= rows.check("lost", expected - std::min(expected, totals.processed), 0);
    rows.row(bold, "events/s", speed(measured), duration(measured));
    good &= rows.check("final states", states.packages - states.differences.size(), states.packages,
                       "packages, the same as in " + states.with);
    rows.remark(states.remark);
    std::cout << std::flush;
    show_some(states.differences);
    return good;
}

} // namespace package_log
