// What g++ 12 would destroy twice is refused when it is compiled; see CMakeLists.txt.

#include <skein/database.hpp>
#include <skein/worker.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace {

struct reading {
    std::string text;
};

} // namespace

template <>
struct skein::payload_codec<reading> {
    static std::string encode(const reading& value) { return value.text; }
    static reading decode(std::string_view text) { return {std::string(text)}; }
};

asio::awaitable<void> use(skein::database database, std::string owned)
{
    const skein::transport queue = database.transport();
#if defined(TEMPORARY_TRANSACTION)
    co_await database.transaction([owned](skein::transaction&) {});
#elif defined(TEMPORARY_READING)
    co_await database.read([owned](const SQLite::Database&) {});
#elif defined(TEMPORARY_PAYLOAD)
    co_await queue.publish("g", reading{owned});
#elif defined(TEMPORARY_JOB)
    co_await database.queue("q").enqueue(reading{owned});
#elif defined(TEMPORARY_RESULT)
    co_await database.results().save(7, reading{owned});
#elif defined(TEMPORARY_EVENT)
    co_await database.stream("t").publish("key", reading{owned});
#elif defined(TEMPORARY_HANDLER)
    co_await skein::run(database.queue("q"),
                        [owned](skein::job&) -> asio::awaitable<void> { co_return; });
#elif defined(GENERIC_HANDLER)
    const auto handler = [](auto) -> asio::awaitable<void> { co_return; };
    co_await skein::run(database.queue("q"), handler);
#elif defined(PLAIN_HANDLER)
    const auto handler = [](skein::job&) {};
    co_await skein::run(database.queue("q"), handler);
#elif defined(HANDLER_OF_THREE)
    const auto handler = [](skein::job&, reading, int) -> asio::awaitable<void> { co_return; };
    co_await skein::run(database.queue("q"), handler);
#elif defined(HANDLER_OF_UNKNOWN)
    const auto handler = [](std::vector<reading>) -> asio::awaitable<void> { co_return; };
    co_await skein::run(database.queue("q"), handler);
#elif defined(HANDLER_RESULT)
    const auto handler = [](skein::job&) -> asio::awaitable<void*> { co_return nullptr; };
    co_await skein::run(database.queue("q"), handler);
#elif defined(MESSAGE_RESULT)
    const auto handler = [](skein::message&) -> asio::awaitable<reading> { co_return reading{}; };
    co_await skein::run(queue, handler);
#elif defined(TEMPORARY_SINK)
    co_await database.stream("t").relay("r").run(
        [owned](const skein::relayed_event&) -> asio::awaitable<void> { co_return; });
#else
    const auto handler = [owned](skein::job&, reading) -> asio::awaitable<reading> {
        co_return reading{owned};
    };
    co_await skein::run(database.queue("q"), handler, {.concurrency = 2});
    const auto work = [owned](skein::transaction&) {};
    co_await database.transaction(work);
    co_await database.transaction([&owned](skein::transaction&) { owned.clear(); });
    const auto look = [owned](const SQLite::Database&) {};
    co_await database.read(look);
    const reading value{owned};
    co_await queue.publish("g", value, {.priority = 1});
    co_await database.queue("q").enqueue(value, {.priority = 1});
    co_await database.results().save(7, value, {.ttl = std::chrono::hours{1}});
    co_await database.stream("t").publish("key", value);
    const auto sink = [owned](const skein::relayed_event&) -> asio::awaitable<void> { co_return; };
    co_await database.stream("t").relay("r", {.lock_ttl = std::chrono::seconds{5}}).run(sink);
#endif
}
