#pragma once

#include "sqlite/statement.hpp"
#include "store/log/log_page.hpp"
#include "store/table_family.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// An event of a stream. Its offset is its number in the one sequence that all topics share, so
/// that gaps in those of one topic are normal.
struct stream_event {
    std::int64_t offset = 0;
    std::optional<std::string> key;
    std::string payload;
    std::int64_t created_at = 0; ///< epoch seconds
};

/// How far a consumer has come in a topic.
struct stream_consumer {
    std::string name;
    std::int64_t offset = 0;
};

/// Streams of events, which need no making: a topic is the name that its events carry. Nothing
/// removes events by itself. Times are epoch seconds.
///
/// Trimming takes a topic's events from the front only, so that those that are left are all that
/// came behind the first of them, and no offset is ever given twice. It takes at most so many at
/// once, all of them when that is negative, and returns how many: it is called again until it
/// takes fewer.
class streams {
public:
    streams(sqlite::connection connection, family_shape shape);

    /// Returns the offset, which no event of any topic has had before. `payload` is JSON text that
    /// `require_json` accepts; the key is any text. Wants a write transaction.
    std::int64_t publish(std::string_view topic, std::optional<std::string_view> key,
                         std::string_view payload, std::int64_t now);

    /// At most `limit` events of the topic behind this offset, in their order; all of them when
    /// `limit` is negative. Only reads.
    [[nodiscard]] std::vector<stream_event> read_since(std::string_view topic, std::int64_t offset,
                                                       std::int64_t limit);

    /// As `read_since`, and what was removed, both of one state of the file. It may also stop at
    /// the length of a page. Only reads.
    [[nodiscard]] log_page<stream_event> look_since(std::string_view topic, std::int64_t offset,
                                                    std::int64_t limit);

    /// The offset of the first event of the topic that is there; 0 when there is none. Only reads.
    [[nodiscard]] std::int64_t first_offset(std::string_view topic);

    /// The offset of the last event of the topic, be it there or not; 0 when there was none. Where
    /// the file lacks our additions, of the last one that is there. Only reads.
    [[nodiscard]] std::int64_t last_offset(std::string_view topic);

    /// The offset of the last event of the topic that is not there any more, whoever has removed
    /// it; 0 when there is none. Whoever has read up to a lower one has missed this one, and
    /// perhaps others between the two. Nothing where the file lacks our additions: nobody knows
    /// then. Only reads.
    [[nodiscard]] std::optional<std::int64_t> last_removed(std::string_view topic);

    /// Notes how far a consumer has come, unless it was farther already. Returns whether it has
    /// noted that. Its first offset may be any, also one that is not positive. Wants a write
    /// transaction.
    bool save_offset(std::string_view consumer, std::string_view topic, std::int64_t offset);

    /// How far a consumer has come; nothing when there is no such consumer. Only reads.
    [[nodiscard]] std::optional<std::int64_t> saved_offset(std::string_view consumer,
                                                           std::string_view topic);

    /// How far a consumer has come; 0 when there is no such consumer. Only reads.
    [[nodiscard]] std::int64_t offset(std::string_view consumer, std::string_view topic);

    /// All consumers of a topic, the slowest first. Only reads.
    [[nodiscard]] std::vector<stream_consumer> consumers(std::string_view topic);

    /// Forgets a consumer, so that no trimming waits for it. Returns whether there was one. Wants a
    /// write transaction.
    bool forget_consumer(std::string_view consumer, std::string_view topic);

    /// The offset that all consumers of a topic have come to, and so the last one that they do not
    /// need; nothing when there is no consumer, since one may still come. Only reads.
    [[nodiscard]] std::optional<std::int64_t> passed_by_all(std::string_view topic);

    /// The last event of the topic but `kept` that came later, which it walks past; nothing when
    /// there are no more than that. `kept` is not negative. Only reads.
    [[nodiscard]] std::optional<std::int64_t> last_but(std::string_view topic, std::int64_t kept);

    /// Removes events of the topic up to this offset. Wants a write transaction.
    std::int64_t trim_through(std::string_view topic, std::int64_t offset, std::int64_t most);

    /// Removes events of the topic of before this moment, up to the first one that is not: behind
    /// that one there may be others, when the clock has been set back. Wants a write transaction.
    std::int64_t trim_older(std::string_view topic, std::int64_t created_before, std::int64_t most);

private:
    sqlite::connection connection_;
    family_shape shape_;
    sqlite::statement insert_;
    sqlite::statement read_;
    sqlite::statement look_;
    sqlite::statement first_offset_;
    sqlite::statement last_offset_;
    sqlite::statement last_removed_;
    sqlite::statement save_offset_;
    sqlite::statement offset_;
    sqlite::statement consumers_;
    sqlite::statement forget_consumer_;
    sqlite::statement passed_by_all_;
    sqlite::statement last_but_;
    sqlite::statement walk_;
    sqlite::statement trim_;
};

} // namespace skein::store
