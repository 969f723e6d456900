#include "comparison.hpp"

#include <map>
#include <set>

namespace package_log {
namespace {

using ledger::package_state;
using ledger::package_states;

const package_state not_installed{.state = "not-installed", .version = "<none>"};

/// What is not listed is not installed: that is how dpkg-query tells it.
package_state find(const package_states& states, const std::string& package)
{
    const auto found = states.find(package);
    return found == states.end() ? not_installed : found->second;
}

std::string describe(const std::string& package, const package_state& ours,
                     const std::string& other, const package_state& theirs)
{
    return package + " is \"" + ours.state + ' ' + ours.version + "\" here and \"" + theirs.state +
           ' ' + theirs.version + "\" according to " + other;
}

package_states replay(const log_file& log)
{
    package_states states;
    for (const auto& [package, event] : log.entries) {
        if (event.action == "status") {
            states[package] = {.state = event.state, .version = event.version};
        }
    }
    return states;
}

/// An upgrade from one architecture to another (`all` to `amd64`, say) begins under the old name
/// and goes on under the new one; the log leaves the old one half-installed, though it is gone.
std::set<std::string> moved_to_another_architecture(const std::vector<log_entry>& entries)
{
    std::set<std::string> moved;
    std::map<std::string, const log_entry*> last_of_name;
    for (const log_entry& entry : entries) {
        const log_entry*& last = last_of_name[entry.package.substr(0, entry.package.find(':'))];
        if (last != nullptr && last->package != entry.package &&
            last->event.state == "half-installed" && entry.event.state == "unpacked") {
            moved.insert(last->package);
        }
        moved.erase(entry.package);
        last = &entry;
    }
    return moved;
}

bool awaits_triggers(const package_state& package)
{
    return package.state == "triggers-pending" || package.state == "triggers-awaited";
}

bool agree(const package_state& logged, const package_state& now)
{
    // A trigger that was set by hand shows at once; the log has it with dpkg's next run.
    const bool has_new_trigger =
        awaits_triggers(now) && (logged.state == "installed" || awaits_triggers(logged));
    return logged.version == now.version && (logged.state == now.state || has_new_trigger);
}

} // namespace

comparison compare_with_log(const log_file& log, const package_states& states)
{
    comparison result;
    result.with = "the log read in order";
    for (const auto& [package, state] : replay(log)) {
        const package_state ours = find(states, package);
        ++result.packages;
        if (ours != state) {
            result.differences.push_back(describe(package, ours, result.with, state));
        }
    }
    return result;
}

comparison compare_with_dpkg(const log_file& log, const package_states& states,
                             const package_states& installed)
{
    comparison result;
    result.with = "dpkg-query";
    const std::set<std::string> moved = moved_to_another_architecture(log.entries);
    for (const auto& [package, state] : states) {
        const package_state ours = moved.contains(package) ? not_installed : state;
        const package_state now = find(installed, package);
        ++result.packages;
        if (!agree(ours, now)) {
            result.differences.push_back(describe(package, ours, result.with, now));
        }
    }
    return result;
}

} // namespace package_log
