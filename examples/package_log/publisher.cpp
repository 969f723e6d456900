#include "publisher.hpp"

#include "../rethrow.hpp"
#include "queue.hpp"

#include <asio/co_spawn.hpp>

#include <functional>

namespace package_log {
namespace {

/// As many publish at the same time, and what they publish together is committed together.
constexpr std::size_t coroutines = 64;

using share = std::vector<const log_entry*>;

/// All entries of one package are in one share: that keeps their order.
std::vector<share> divide(const std::vector<log_entry>& entries)
{
    std::vector<share> shares(coroutines);
    for (const log_entry& entry : entries) {
        shares[std::hash<std::string>{}(entry.package) % coroutines].push_back(&entry);
    }
    return shares;
}

asio::awaitable<void> publish(skein::transport events, share entries, std::size_t& published)
{
    for (const log_entry* entry : entries) {
        co_await events.publish(entry->package, entry->event);
        ++published;
    }
}

} // namespace

void start_publishing(asio::io_context& context, const skein::transport& events,
                      const std::vector<log_entry>& entries, std::size_t& published)
{
    for (share& entries_of_one : divide(entries)) {
        asio::co_spawn(context, publish(events, std::move(entries_of_one), published), rethrow);
    }
}

} // namespace package_log
