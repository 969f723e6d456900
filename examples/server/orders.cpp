#include "orders.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace {

std::string topic_of(std::int64_t id)
{
    return "order " + std::to_string(id);
}

} // namespace

order_book::order_book(skein::database db) : db_(std::move(db)), mails_(db_.queue("mails")) {}

asio::awaitable<void> order_book::open()
{
    const auto create = [](skein::transaction& tx) {
        tx.database().exec("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY,"
                           " item TEXT NOT NULL, email TEXT NOT NULL, state TEXT NOT NULL)");
    };
    co_await db_.transaction(create);
}

asio::awaitable<std::int64_t> order_book::place(order wanted)
{
    const auto write = [&](skein::transaction& tx) {
        SQLite::Statement insert(tx.database(), "INSERT INTO orders (item, email, state)"
                                                " VALUES (?, ?, 'placed')");
        insert.bind(1, wanted.item);
        insert.bind(2, wanted.email);
        insert.exec();
        const std::int64_t id = tx.database().getLastInsertRowid();
        const order_mail mail{id, wanted.email, "Thank you for your order: " + wanted.item};
        mails_.enqueue(tx, mail);
        note(tx, id, "placed");
        return id;
    };
    const std::int64_t id = co_await db_.transaction(write);
    co_return id;
}

asio::awaitable<std::optional<std::string>> order_book::find(std::int64_t id)
{
    const auto look = [&](const SQLite::Database& file) -> std::optional<std::string> {
        SQLite::Statement select(file, "SELECT item, email, state FROM orders WHERE id = ?");
        select.bind(1, id);
        if (!select.executeStep()) {
            return std::nullopt;
        }
        const nlohmann::json found{{"id", id},
                                   {"item", select.getColumn(0).getString()},
                                   {"email", select.getColumn(1).getString()},
                                   {"state", select.getColumn(2).getString()}};
        return found.dump();
    };
    std::optional<std::string> found = co_await db_.read(look);
    co_return found;
}

void order_book::note_mailed(skein::transaction& tx, std::int64_t id)
{
    SQLite::Statement update(tx.database(), "UPDATE orders SET state = 'mailed' WHERE id = ?");
    update.bind(1, id);
    update.exec();
    note(tx, id, "mailed");
}

/// The stream keeps it for who asks later; the notification wakes who is waiting now.
void order_book::note(skein::transaction& tx, std::int64_t id, const char* state)
{
    const nlohmann::json event{{"state", state}};
    db_.stream(topic_of(id)).publish(tx, event);
    db_.notify(tx, topic_of(id), event);
}

asio::awaitable<std::vector<skein::stream_event>> order_book::events(std::int64_t id,
                                                                     std::int64_t behind)
{
    return db_.stream(topic_of(id)).read_since(behind);
}

asio::awaitable<skein::listener> order_book::watch(std::int64_t id)
{
    return db_.listen(topic_of(id));
}
