// A stream: every consumer gets every event, in the order of the commits, and goes on where it was
// when it comes again. The offset is saved with the effect, so that each event takes effect once.

#include "rethrow.hpp"
#include "temporary_directory.hpp"

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

struct payment {
    int cents = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(payment, cents)

asio::awaitable<void> publish(skein::stream payments)
{
    for (const int cents : {250, 1999, 720}) {
        const payment paid{cents};
        co_await payments.publish("customer-7", paid);
    }
}

/// Books what is there, one event at a time: the sum and the offset are one commit.
asio::awaitable<void> book_all(skein::database db, skein::consumer booking)
{
    while (true) {
        const auto event = co_await booking.try_next();
        if (!event) {
            break;
        }
        const auto book = [&](skein::transaction& tx) {
            SQLite::Statement add(tx.database(), "UPDATE account SET cents = cents + ?");
            add.bind(1, event->value<payment>().cents);
            add.exec();
            booking.save(tx, event->offset);
        };
        co_await db.transaction(book);
        std::cout << event->key.value_or("?") << " paid: " << event->payload << '\n';
    }
}

asio::awaitable<void> run(skein::database db, bool& is_right)
{
    const auto make_account = [](skein::transaction& tx) {
        tx.database().exec("CREATE TABLE account (cents INTEGER);"
                           "INSERT INTO account VALUES (0)");
    };
    co_await db.transaction(make_account);
    const skein::stream payments = db.stream("payments");
    co_await publish(payments);
    skein::consumer first = co_await payments.consumer("booking");
    co_await book_all(db, std::move(first));

    co_await publish(payments);
    skein::consumer again = co_await payments.consumer("booking"); // after a restart, say
    co_await book_all(db, std::move(again));

    const auto read_account = [](const SQLite::Database& file) {
        SQLite::Statement look(file, "SELECT cents FROM account");
        look.executeStep();
        return look.getColumn(0).getInt();
    };
    const int cents = co_await db.read(read_account);
    const std::size_t trimmed = co_await payments.trim({.passed_by_all = true});
    std::cout << cents << " cents; " << trimmed << " events that all have passed are removed\n";
    is_right = cents == 2 * (250 + 1999 + 720) && trimmed == 6;
}

int main(int argc, char* argv[])
{
    const temporary_directory directory(argc, argv);

    asio::io_context context;
    const skein::database db(directory.path() / "app.db");
    bool is_right = false;
    asio::co_spawn(context, run(db, is_right), rethrow);
    context.run();
    return is_right ? 0 : 1;
}
