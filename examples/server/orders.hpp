#pragma once

#include <skein/json.hpp>
#include <skein/skein.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct order {
    std::string item;
    std::string email;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order, item, email)

/// What is to be told to a customer.
struct order_mail {
    std::int64_t order_id = 0;
    std::string to;
    std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order_mail, order_id, to, text)

/// The service's own table, with its mails and its events in the same file.
class order_book {
public:
    explicit order_book(skein::database db);

    /// Before anything else.
    asio::awaitable<void> open();

    /// Writes the order, its first event and the job that mails the customer: in one transaction,
    /// so that there is never one without the others.
    asio::awaitable<std::int64_t> place(order wanted);

    /// As JSON; nothing when there is no such order.
    asio::awaitable<std::optional<std::string>> find(std::int64_t id);

    /// In the transaction that acknowledges the mail.
    void note_mailed(skein::transaction& tx, std::int64_t id);

    /// What has happened to an order so far, behind an event that is known; and who is told when
    /// more has.
    asio::awaitable<std::vector<skein::stream_event>> events(std::int64_t id, std::int64_t behind);
    asio::awaitable<skein::listener> watch(std::int64_t id);

    [[nodiscard]] const skein::queue& mails() const noexcept { return mails_; }

private:
    void note(skein::transaction& tx, std::int64_t id, const char* state);

    skein::database db_;
    skein::queue mails_;
};
