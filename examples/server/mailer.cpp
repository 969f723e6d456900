#include "mailer.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <stdexcept>

mailer::mailer(skein::database db, order_book& orders, const std::filesystem::path& sent)
    : db_(std::move(db)), orders_(orders), sent_(sent, std::ios::app)
{
    if (!sent_) {
        throw std::runtime_error("cannot write to " + sent.string());
    }
}

asio::awaitable<void> mailer::send(skein::job& job, order_mail mail)
{
    if (mail.to.find('@') == std::string::npos) {
        throw skein::permanent_failure("no mail address: " + mail.to);
    }
    asio::steady_timer server(co_await asio::this_coro::executor, std::chrono::milliseconds{20});
    co_await server.async_wait(asio::use_awaitable);
    sent_ << mail.order_id << ' ' << mail.to << ' ' << mail.text << std::endl;

    const auto finish = [&](skein::transaction& tx) {
        const bool is_ours = job.ack(tx);
        if (is_ours) {
            orders_.note_mailed(tx, mail.order_id);
        }
        return is_ours;
    };
    co_await db_.transaction(finish);
}
