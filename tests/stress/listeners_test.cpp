#include "support/run_coroutine.hpp"
#include "support/temporary_directory.hpp"

#include <skein/skein.hpp>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace skein;
using support::operation;

constexpr int listeners = 20;
constexpr int notifications = 200;

asio::awaitable<int> hear_all(listener inbox)
{
    int right = 0;
    for (int each = 0; each < notifications; ++each) {
        const notification note = co_await inbox.next();
        right += note.payload == std::to_string(each) ? 1 : 0;
    }
    co_return right;
}

asio::awaitable<void> notify_all(database db)
{
    for (int each = 0; each < notifications; ++each) {
        const std::string payload = std::to_string(each);
        co_await db.notify("c", payload);
    }
}

// What one look has found is given to all who wait at one place, while the first of them is on its
// way on another thread.
TEST(ListenersOfOneChannel, EachHearAllOfIt)
{
    const support::temporary_directory directory;
    asio::io_context context;
    const database db(directory.path() / "test.db", {.durability = durability::off});
    std::vector<operation<int>> all;
    for (int each = 0; each < listeners; ++each) {
        listener inbox = support::run_coroutine(context, db.listen("c"));
        all.emplace_back(context, hear_all(std::move(inbox)));
    }
    support::run_coroutine(context, notify_all(db));
    for (auto& each : all) {
        support::run_until(context, [&] { return each.is_done(); });
        EXPECT_EQ(each.result(), notifications);
    }
}

} // namespace
