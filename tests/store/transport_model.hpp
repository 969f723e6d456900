#pragma once

#include "store/transport/transport.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace skein::store {

/// What a transport is to its users, in the plainest words: no tables, no indexes, no cost. The
/// store is held to it.
class transport_model {
public:
    void publish(const std::string& group, const std::string& payload, int priority,
                 const std::optional<std::string>& routing_key);
    std::optional<claimed_message> claim(const claim_filter& filter, const std::string& locked_by,
                                         double visibility, double now);
    bool ack(const message_fence& fence);
    bool release(const message_fence& fence);
    bool park(const message_fence& fence, double end);
    bool extend(const message_fence& fence, double end);
    [[nodiscard]] std::optional<double> next_lapse(double now) const;

    /// As a program finishes a message that knows it by its number alone.
    void ack_unfenced(const message_fence& fence);
    void release_unfenced(const message_fence& fence);
    void park_unfenced(const message_fence& fence, double end);

private:
    struct lock {
        std::string locked_by;
        double end;
    };

    struct stored_message {
        std::int64_t seq;
        std::string payload;
        std::optional<lock> held;
    };

    struct stored_group {
        int arrival;
        double stamp = 0;
        int priority;
        std::optional<std::string> routing_key;
        std::deque<stored_message> messages;
    };

    using groups = std::map<std::string, stored_group>;

    static bool accepts(const claim_filter& filter, const stored_group& group);
    groups::iterator next(const claim_filter& filter, double now);
    [[nodiscard]] double next_stamp(double now) const;
    /// The head of the fence's group, if it is the fence's message.
    stored_message* find(const message_fence& fence);
    stored_message* find_held(const message_fence& fence);
    void remove_head(const std::string& group);

    groups groups_;
    std::int64_t last_seq_ = 0;
    int arrivals_ = 0;
};

} // namespace skein::store
