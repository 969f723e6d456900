#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <asio/error.hpp>
#include <asio/io_context.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, and a topic of it.
class stream_fixture : public ::testing::Test {
protected:
    using numbers = std::vector<std::int64_t>;

    std::int64_t publish(std::string_view payload = "null")
    {
        return db_.run(stream_.publish(payload));
    }

    /// So many events in one commit, with the numbers from 1 on as their payloads.
    numbers publish_many(int count)
    {
        std::vector<std::string> texts;
        for (int each = 1; each <= count; ++each) {
            texts.push_back(std::to_string(each));
        }
        std::vector<new_event> events;
        for (const std::string& each : texts) {
            events.push_back({.payload = each});
        }
        return db_.run(stream_.publish_many(events));
    }

    consumer consume(std::string_view name = "c", const consumer_options& options = {})
    {
        return db_.run(stream_.consumer(name, options));
    }

    static numbers offsets_of(const std::vector<stream_event>& events)
    {
        numbers all;
        for (const stream_event& each : events) {
            all.push_back(each.offset);
        }
        return all;
    }

    /// The offsets of the events of the topic that are there.
    numbers left() { return offsets_of(db_.run(stream_.read_since(0, 1000))); }

    /// The offsets of all that is there for a consumer.
    numbers drain(consumer& who)
    {
        numbers all;
        while (const auto event = db_.run(who.try_next())) {
            all.push_back(event->offset);
        }
        return all;
    }

    std::optional<std::int64_t> saved(std::string_view name = "c")
    {
        for (const stream_consumer& each : db_.run(stream_.consumers())) {
            if (each.name == name) {
                return each.offset;
            }
        }
        return std::nullopt;
    }

    /// Runs so many of the things that are ready, and no more.
    void poll(std::size_t steps)
    {
        db_.context().restart();
        for (std::size_t each = 0; each < steps; ++each) {
            db_.context().poll_one();
        }
    }

    template <class Function>
    static std::error_code code_of(Function&& function)
    {
        try {
            function();
        } catch (const error& refused) {
            return refused.code();
        }
        return {};
    }

    manual_database db_;
    skein::stream stream_ = db_.database().stream("orders");
};

} // namespace skein::support
