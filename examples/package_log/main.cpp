// Reads dpkg's log, publishes every event into the group of its package, and lets two processes
// work on them at once, one of which is killed half way. In the end every event was processed once,
// each package's in order, and the states that they add up to are those that dpkg-query tells.
//
//     package_log [LOG]              /var/log/dpkg.log unless another is given
//     package_log --compare LOG      ask dpkg-query about another log too
//     package_log --worker DB NAME   one of the two processes, started by the first

#include "comparison.hpp"
#include "demo.hpp"
#include "dpkg_query.hpp"
#include "log_file.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "worker.hpp"

#include <csignal>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace package_log {
namespace {

const std::filesystem::path machines_log = "/var/log/dpkg.log";

bool is_machines_own(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::equivalent(path, machines_log, ignored);
}

std::size_t count_packages(const log_file& log)
{
    std::set<std::string_view> packages;
    for (const log_entry& entry : log.entries) {
        packages.insert(entry.package);
    }
    return packages.size();
}

std::string several(std::size_t number, const std::string& things)
{
    return std::to_string(number) + ' ' + things + (number == 1 ? "" : "s");
}

void introduce(const terminal& output, const log_file& log)
{
    std::cout << output.paint("1", log.path.string()) << ": "
              << several(log.entries.size(), "event") << " of "
              << several(count_packages(log), "package") << '\n';
    if (log.malformed > 0) {
        std::cout << "  left out " << several(log.malformed, "line")
                  << " that dpkg did not write, line " << log.first_malformed << " first\n";
    }
    std::cout << std::endl;
}

/// With dpkg-query where that makes sense, with the log itself otherwise.
comparison compare(const log_file& log, const outcome& measured, bool is_told)
{
    comparison with_log = compare_with_log(log, measured.states);
    if (!is_told && !is_machines_own(log.path)) {
        with_log.remark = "not this machine's log: dpkg-query was not asked";
        return with_log;
    }
    const auto installed = ask_dpkg();
    std::error_code ignored;
    if (!installed) {
        with_log.remark = "there is no dpkg-query here to ask";
    } else if (std::filesystem::file_size(log.path, ignored) != log.size) {
        with_log.remark = "dpkg has gone on meanwhile: not compared with dpkg-query";
    } else if (with_log.differences.empty()) {
        return compare_with_dpkg(log, measured.states, *installed);
    }
    return with_log;
}

int run(const std::filesystem::path& path, bool compare_always)
{
    const terminal output = standard_output();
    const log_file log = read_log(path);
    introduce(output, log);
    if (log.entries.empty()) {
        std::cout << "  Nothing to publish. An older log may have more, such as " << path.string()
                  << ".1\n";
        return 0;
    }
    progress_bar bar(output, log.entries.size());
    const outcome measured = run_demo(log, bar);
    bar.end();
    const comparison states = compare(log, measured, compare_always);
    return report(output, log.entries.size(), measured, states) ? 0 : 1;
}

int dispatch(const std::vector<std::string_view>& arguments)
{
    const std::size_t count = arguments.size();
    if (count == 3 && arguments[0] == "--worker") {
        run_worker(arguments[1], std::string(arguments[2]));
        return 0;
    }
    if (count == 2 && arguments[0] == "--compare") {
        return run(arguments[1], true);
    }
    if (count == 0) {
        return run(machines_log, false);
    }
    if (count == 1 && !arguments[0].starts_with("-")) {
        return run(arguments[0], false);
    }
    throw input_error("usage: package_log [--compare] [LOG]");
}

} // namespace
} // namespace package_log

int main(int argc, char* argv[])
{
    // Whoever reads our output and has seen enough must not keep us from cleaning up.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return package_log::dispatch({argv + 1, argv + argc});
    } catch (const package_log::interrupted& end) {
        return 128 + end.signal; // as a shell reports it
    } catch (const package_log::input_error& failure) {
        std::cerr << "package_log: " << failure.what() << '\n';
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << "package_log: " << failure.what() << '\n';
        return 1;
    }
}
