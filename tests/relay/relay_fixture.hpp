#pragma once

#include "stream/stream_fixture.hpp"

#include <skein/relay.hpp>

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace skein::support {

/// A topic that is relayed, and a sink that takes notes.
class relay_fixture : public stream_fixture {
protected:
    operation<void> start_relay(std::string_view name = "r", relay_options options = {})
    {
        return start_relay(stream_.relay(name, options));
    }

    operation<void> start_relay(const skein::relay& relay)
    {
        const auto take = [this](const relayed_event& each) { return take_note(each); };
        auto started = db_.start(relay.run(take));
        db_.settle();
        return started;
    }

    /// Throws as often as it was told to; holds the event while it was told to.
    asio::awaitable<void> take_note(const relayed_event& each)
    {
        calls_.push_back(each.id);
        moments_.push_back(db_.clock().steady_now());
        while (is_held_) {
            gate_.expires_at(asio::steady_timer::time_point::max());
            asio::error_code opened;
            co_await gate_.async_wait(asio::redirect_error(asio::use_awaitable, opened));
        }
        if (failures_ > 0) {
            --failures_;
            throw std::runtime_error("the broker is away");
        }
        taken_.push_back(each.event.offset);
    }

    /// Lets the sink go on with what it holds.
    void open_gate()
    {
        is_held_ = false;
        gate_.cancel();
        db_.settle();
    }

    void pass(std::chrono::milliseconds time)
    {
        for (std::chrono::milliseconds passed{0}; passed < time;
             passed += std::chrono::milliseconds{10}) {
            db_.advance(std::chrono::milliseconds{10});
        }
    }

    std::vector<std::string> calls_;          ///< the ids of the events that it was given
    std::vector<clock::steady_time> moments_; ///< when
    numbers taken_;                           ///< the offsets of those that it has not refused
    int failures_ = 0;                        ///< of the next calls
    bool is_held_ = false;                    ///< it does not return
    asio::steady_timer gate_{db_.context()};
};

} // namespace skein::support
