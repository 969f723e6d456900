#pragma once

#include "support/manual_database.hpp"
#include "support/plain_connection.hpp"
#include "support/statement_counter.hpp"

#include <skein/error.hpp>
#include <skein/skein.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::support {

/// A database that runs in the calls of `settle`, with its time at 100 s, and another program's
/// connection beside it.
class notification_fixture : public ::testing::Test {
protected:
    listener listen(std::string_view channel = "orders")
    {
        return db_.run(db_.database().listen(channel));
    }

    std::int64_t notify(std::string_view payload, std::string_view channel = "orders")
    {
        return db_.run(db_.database().notify(channel, payload));
    }

    /// Notifies with the numbers from `first` to `last`.
    void notify_all(int first, int last, std::string_view channel = "orders")
    {
        for (int each = first; each <= last; ++each) {
            notify(std::to_string(each), channel);
        }
    }

    std::size_t prune(const notification_retention& retention)
    {
        return db_.run(db_.database().prune_notifications(retention));
    }

    /// The payloads of all that is there for a listener, up to a thousand; "lagged 1-3" when it is
    /// told that.
    std::vector<std::string> drain(listener& inbox) { return drain(db_, inbox); }

    static std::vector<std::string> drain(manual_database& db, listener& inbox)
    {
        std::vector<std::string> all;
        while (all.size() < 1000) {
            try {
                const std::optional<notification> note = db.run(inbox.try_next());
                if (!note) {
                    break;
                }
                all.push_back(note->payload);
            } catch (const lagged& told) {
                all.push_back("lagged " + std::to_string(told.first()) + '-' +
                              std::to_string(told.last()));
            }
        }
        return all;
    }

    manual_database db_;
    plain_connection other_{db_.path()};
};

} // namespace skein::support
