#include "api/payload_room.hpp"

#include <skein/error.hpp>

#include <string>

namespace skein::api {

namespace {

// A row holds more than these: a worker's name or a lock, and SQLite's own header.
constexpr std::size_t row_overhead = 1024;

} // namespace

void require_room(std::size_t limit, std::string_view payload, std::string_view name,
                  std::string_view key)
{
    const std::size_t taken = name.size() + key.size() + row_overhead;
    if (payload.size() + taken > limit) {
        throw error(errc::payload_too_large,
                    "payload: " + std::to_string(payload.size()) + " bytes; at most " +
                        std::to_string(limit > taken ? limit - taken : 0) + " are accepted");
    }
}

} // namespace skein::api
