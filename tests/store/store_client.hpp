#pragma once

#include "store/transport/transport.hpp"
#include "support/plain_connection.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// Who makes the tables.
enum class schema_owner { skein, somebody_else };

/// One connection to a file with a transport in it; every call is a transaction of its own, as
/// the runtime would run it.
class store_client {
public:
    explicit store_client(const std::filesystem::path& path,
                          schema_owner owner = schema_owner::skein,
                          std::string_view prefix = "harel");

    void publish(std::string_view group, std::string_view payload, int priority = 0,
                 std::optional<std::string_view> routing_key = std::nullopt);

    /// Claims with a fence that is told apart from every other one.
    std::optional<claimed_message> claim(double now, const claim_filter& filter = {},
                                         double visibility = 30);

    /// Claims the heads of several groups at once.
    std::vector<claimed_message> claim_many(std::size_t most, double now,
                                            const claim_filter& filter = {},
                                            double visibility = 30);

    /// The payload of a claim, or "none".
    std::string claim_payload(double now, const claim_filter& filter = {}, double visibility = 30);

    bool has_work(double now, const claim_filter& filter = {});
    bool ack(const message_fence& fence);
    bool release(const message_fence& fence);
    bool park(const message_fence& fence, double end);
    bool extend(const message_fence& fence, double end);
    std::optional<double> next_lapse(double now) { return transport_.next_lapse(now); }

    [[nodiscard]] const transport_names& names() const noexcept { return names_; }
    [[nodiscard]] transport_shape shape() const noexcept { return shape_; }
    [[nodiscard]] const support::plain_connection& file() const noexcept { return file_; }
    [[nodiscard]] transport& get() noexcept { return transport_; }

    /// `blocked_until` of a group; "NULL" when it is free.
    [[nodiscard]] std::string blocked_until(std::string_view group) const;

private:
    template <class Function>
    auto write(Function&& function);

    static transport_shape prepare(sqlite::connection connection, const transport_names& names,
                                   schema_owner owner);

    support::plain_connection file_;
    transport_names names_;
    transport_shape shape_;
    transport transport_;
    int claims_ = 0;
};

[[nodiscard]] inline claim_filter at_least(int priority)
{
    return {priority, std::nullopt, false};
}

[[nodiscard]] inline claim_filter of_keys(std::initializer_list<std::string> keys,
                                          int min_priority = 0)
{
    return {min_priority, std::vector<std::string>(keys), false};
}

} // namespace skein::store
