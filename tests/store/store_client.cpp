#include "store/store_client.hpp"

#include "support/write_transaction.hpp"

#include <utility>

namespace skein::store {

store_client::store_client(const std::filesystem::path& path, schema_owner owner,
                           std::string_view prefix)
    : file_(path), names_(prefix),
      shape_(prepare(sqlite::connection(file_.handle()), names_, owner)),
      transport_(sqlite::connection(file_.handle()), names_, shape_)
{
}

transport_shape store_client::prepare(sqlite::connection connection, const transport_names& names,
                                      schema_owner owner)
{
    if (owner == schema_owner::skein) {
        connection.execute("BEGIN IMMEDIATE");
        try {
            create_transport(connection, names);
            connection.execute("COMMIT");
        } catch (...) {
            connection.execute("ROLLBACK");
            throw;
        }
    }
    return inspect_transport(connection, names);
}

template <class Function>
auto store_client::write(Function&& function)
{
    return support::in_write_transaction(file_, std::forward<Function>(function));
}

void store_client::publish(std::string_view group, std::string_view payload, int priority,
                           std::optional<std::string_view> routing_key)
{
    write([&] {
        transport_.publish({group, payload, priority, routing_key});
        return true;
    });
}

std::optional<claimed_message> store_client::claim(double now, const claim_filter& filter,
                                                   double visibility)
{
    std::vector<claimed_message> claimed = claim_many(1, now, filter, visibility);
    return claimed.empty() ? std::nullopt : std::optional(std::move(claimed.front()));
}

std::vector<claimed_message> store_client::claim_many(std::size_t most, double now,
                                                      const claim_filter& filter, double visibility)
{
    std::vector<std::string> locks;
    for (std::size_t each = 0; each < most; ++each) {
        locks.push_back("worker#" + std::to_string(++claims_));
    }
    std::vector<claim_request> requests;
    for (const std::string& lock : locks) {
        requests.push_back({lock, visibility});
    }
    claim_result result;
    do {
        result = write([&] { return transport_.claim(filter, requests, now); });
    } while (!result.is_finished && result.messages.empty());
    return std::move(result.messages);
}

std::string store_client::claim_payload(double now, const claim_filter& filter, double visibility)
{
    const std::optional<claimed_message> claimed = claim(now, filter, visibility);
    return claimed ? claimed->payload : "none";
}

bool store_client::has_work(double now, const claim_filter& filter)
{
    return transport_.has_work(filter, now);
}

bool store_client::ack(const message_fence& fence)
{
    return write([&] { return transport_.ack(fence); });
}

bool store_client::release(const message_fence& fence)
{
    return write([&] { return transport_.release(fence); });
}

bool store_client::park(const message_fence& fence, double end)
{
    return write([&] { return transport_.park(fence, end); });
}

bool store_client::extend(const message_fence& fence, double end)
{
    return write([&] { return transport_.extend(fence, end); });
}

std::string store_client::blocked_until(std::string_view group) const
{
    return file_.value("SELECT blocked_until FROM " + names_.groups + " WHERE group_id = '" +
                       std::string(group) + "'");
}

} // namespace skein::store
