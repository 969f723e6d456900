#pragma once

#include "api/log/log_follower.hpp"
#include "api/log/stream_store.hpp"

#include <skein/consumer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace skein::api {

/// Where a consumer begins, and what the file knows of it.
struct consumer_position {
    log_place start;
    std::int64_t saved = 0;
};

/// What a `consumer` refers to.
class consumer_place {
public:
    consumer_place(std::shared_ptr<const stream_state> topic, std::string name,
                   consumer_saving saving, const consumer_position& position)
        : topic_(std::move(topic)), name_(std::move(name)), saving_(saving),
          follower_(topic_, position.start), started_(position.start.read), saved_(position.saved),
          handed_out_(position.start.read)
    {
    }

    [[nodiscard]] const stream_state& topic() const noexcept { return *topic_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// The last that was handed out, or what it has started behind. From any thread.
    [[nodiscard]] std::int64_t offset() const noexcept { return handed_out_; }

    /// The last that was handed out, if anything was. From any thread.
    [[nodiscard]] std::optional<std::int64_t> handed_out() const noexcept
    {
        const std::int64_t last = handed_out_;
        return last != started_ ? std::optional(last) : std::nullopt;
    }

    /// Returns whether the saved offset has moved.
    bool save(runtime::batch& batch, std::int64_t offset) const
    {
        return topic_->ready(batch).save_offset(name_, topic_->topic(), offset);
    }
    static asio::awaitable<bool> save(std::shared_ptr<consumer_place> self,
                                      std::optional<std::int64_t> offset);

    /// The next events, at most so many; none at the limit.
    static asio::awaitable<std::vector<stream_event>>
    next(std::shared_ptr<consumer_place> self, std::size_t most, runtime::patience how_long);

    /// Takes a place in a topic, and enters the name into the file if it is new there.
    static asio::awaitable<consumer> make(std::shared_ptr<const stream_state> topic,
                                          std::string name, consumer_options options);

private:
    static asio::awaitable<void> save_automatically(std::shared_ptr<consumer_place> self);

    const std::shared_ptr<const stream_state> topic_;
    const std::string name_;
    const consumer_saving saving_;
    log_follower<topic_log> follower_;
    const std::int64_t started_;
    std::int64_t saved_; ///< as far as it knows; used by those who hold a turn of the follower
    std::atomic<std::int64_t> handed_out_;
};

} // namespace skein::api
