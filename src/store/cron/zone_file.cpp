#include "store/cron/zone_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace skein::store {

namespace {

constexpr std::size_t header_size = 44;

/// What the header of a block says that the block holds.
struct block_header {
    char version = 0;
    std::size_t universal_marks = 0;
    std::size_t standard_marks = 0;
    std::size_t leap_seconds = 0;
    std::size_t changes = 0;
    std::size_t types = 0;
    std::size_t name_characters = 0;

    [[nodiscard]] std::size_t size(std::size_t time_size) const
    {
        return changes * (time_size + 1) + types * 6 + name_characters +
               leap_seconds * (time_size + 4) + standard_marks + universal_marks;
    }
};

/// The big-endian number of these bytes, with its sign.
std::int64_t number(std::string_view bytes)
{
    std::uint64_t value = (bytes.front() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (const char each : bytes) {
        value = value << 8 | static_cast<unsigned char>(each);
    }
    return static_cast<std::int64_t>(value);
}

std::optional<block_header> read_header(std::string_view bytes)
{
    if (bytes.size() < header_size || !bytes.starts_with("TZif")) {
        return std::nullopt;
    }
    // No count comes near this size; it keeps sums of them within their range.
    constexpr std::int64_t most = 1'000'000;
    std::array<std::size_t, 6> counts{};
    for (std::size_t each = 0; each < counts.size(); ++each) {
        const std::int64_t count = number(bytes.substr(20 + each * 4, 4));
        if (count < 0 || count > most) {
            return std::nullopt;
        }
        counts[each] = static_cast<std::size_t>(count);
    }
    return block_header{bytes[4], counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
}

/// `bytes` starts with the times; it holds the whole block.
std::optional<zone_history> read_block(std::string_view bytes, const block_header& header,
                                       std::size_t time_size)
{
    const std::string_view indexes = bytes.substr(header.changes * time_size);
    const std::string_view types = indexes.substr(header.changes);
    const auto offset_of = [&](std::size_t type) { return number(types.substr(type * 6, 4)); };

    zone_history history;
    history.first_offset = offset_of(0);
    for (std::size_t each = 0; each < header.changes; ++each) {
        const std::size_t type = static_cast<unsigned char>(indexes[each]);
        if (type >= header.types) {
            return std::nullopt;
        }
        history.changes.push_back(
            {number(bytes.substr(each * time_size, time_size)), offset_of(type)});
    }
    const bool is_sorted =
        std::ranges::is_sorted(history.changes, {}, &zone_history::change::moment);
    return is_sorted ? std::optional(std::move(history)) : std::nullopt;
}

bool is_usable(const std::optional<block_header>& header)
{
    return header && header->types > 0 && header->leap_seconds == 0;
}

/// The rule stands between two line ends, behind the block.
std::optional<zone_rule> read_footer(std::string_view bytes)
{
    if (!bytes.starts_with('\n')) {
        return std::nullopt;
    }
    bytes.remove_prefix(1);
    return parse_zone_rule(bytes.substr(0, bytes.find('\n')));
}

/// Keeps a name inside the folder.
bool is_zone_name(std::string_view name)
{
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789+-_/";
    return !name.empty() && !name.starts_with('/') &&
           name.find_first_not_of(allowed) == std::string_view::npos;
}

std::filesystem::path zone_folder()
{
    // Whoever sets variables while others read them breaks all of the C library's time functions.
    const char* const chosen = std::getenv("TZDIR"); // NOLINT(concurrency-mt-unsafe)
    return chosen != nullptr && *chosen != '\0' ? chosen : "/usr/share/zoneinfo";
}

} // namespace

std::int64_t zone_history::offset_at(std::int64_t moment) const
{
    const auto later = std::ranges::upper_bound(changes, moment, {}, &change::moment);
    if (later == changes.end() && rule) {
        return rule->offset_at(moment);
    }
    return later == changes.begin() ? first_offset : std::prev(later)->offset;
}

std::optional<zone_history> parse_zone_file(std::string_view bytes)
{
    std::optional<block_header> header = read_header(bytes);
    if (!header) {
        return std::nullopt;
    }
    bytes.remove_prefix(header_size);
    std::size_t time_size = 4;
    // From version 2 on, a block with longer times follows, and the rule.
    if (header->version >= '2') {
        bytes.remove_prefix(std::min(header->size(time_size), bytes.size()));
        header = read_header(bytes);
        bytes.remove_prefix(std::min(header_size, bytes.size()));
        time_size = 8;
    }
    if (!is_usable(header) || bytes.size() < header->size(time_size)) {
        return std::nullopt;
    }
    std::optional<zone_history> history = read_block(bytes, *header, time_size);
    if (history && time_size == 8) {
        history->rule = read_footer(bytes.substr(header->size(time_size)));
    }
    return history;
}

std::optional<zone_history> read_zone_file(std::string_view name)
{
    if (!is_zone_name(name)) {
        return std::nullopt;
    }
    const std::filesystem::path path = zone_folder() / name;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return std::nullopt;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return parse_zone_file(bytes);
}

} // namespace skein::store
