#pragma once

#include "orders.hpp"

#include <filesystem>
#include <fstream>

/// Mails customers: appends each mail to a file, which takes as long as a mail server would.
class mailer {
public:
    mailer(skein::database db, order_book& orders, const std::filesystem::path& sent);

    /// The handler of the worker. A mail goes out once, or, when the process is killed between the
    /// mail and the commit, once more: a mail server cannot take part in a transaction.
    asio::awaitable<void> send(skein::job& job, order_mail mail);

private:
    skein::database db_;
    order_book& orders_;
    std::ofstream sent_;
};
