#pragma once

#include "support/other_process.hpp"
#include "support/plain_connection.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::store {

/// The format's tables as they were, oldest first.
enum class format_version {
    messages_only, ///< no groups table yet
    no_indexes,    ///< groups without indexes
    no_keys,       ///< indexes, but no routing keys
    keys,          ///< the newest
};

/// Creates the tables as the older program does.
void create_format(const support::plain_connection& file, format_version version,
                   const std::string& prefix = "harel");

/// The same under the names that the tables had before they had a prefix; the newest shape has
/// always had one.
void create_unprefixed(const support::plain_connection& file, format_version version);

/// The other program that uses these tables and knows nothing of what skein adds: it works in plain
/// SQL, publishes in two commits, finishes messages by their number alone, and walks the groups.
class older_program {
public:
    struct claimed {
        std::string seq;
        std::string group;
        std::string event;
    };

    /// With a connection of its own, in this process.
    explicit older_program(const std::filesystem::path& path);

    /// In another process, which must live as long as this.
    explicit older_program(support::other_process& process);

    void publish(const std::string& group, const std::string& event, int priority = 0);
    void publish_with_key(const std::string& group, const std::string& event,
                          const std::string& key);

    /// The two halves of a publish, which are two commits.
    void publish_message(const std::string& group, const std::string& event);
    void publish_group(const std::string& group, int priority = 0);

    std::optional<claimed> claim(const std::string& worker, double now, double visibility = 30,
                                 int min_priority = 0);
    void ack(const claimed& lease);
    void nack(const claimed& lease);
    void park(const claimed& lease, double end);

private:
    using rows = std::vector<std::string>;

    [[nodiscard]] std::string value(const std::string& query) const { return sql_(query).at(0); }

    std::function<rows(const std::string& statements)> sql_;
};

} // namespace skein::store
