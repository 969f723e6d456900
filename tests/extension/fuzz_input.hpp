#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace skein::fuzz {

/// Where arbitrary choices come from: bytes that a fuzzer has thought of, and when they are used
/// up, or there are none, a generator with a seed. The same input makes the same choices.
class input {
public:
    explicit input(std::span<const std::uint8_t> bytes) : bytes_(bytes), generator_(bytes.size()) {}
    explicit input(std::uint64_t seed) : generator_(seed) {}

    [[nodiscard]] bool is_used_up() const noexcept { return bytes_.empty(); }

    std::uint8_t byte()
    {
        if (bytes_.empty()) {
            return static_cast<std::uint8_t>(generator_());
        }
        const std::uint8_t first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }

    /// From 0 to `count` - 1.
    std::size_t below(std::size_t count)
    {
        const std::size_t low = byte();
        const std::size_t high = count > 256 ? byte() : 0U;
        return (high * 256 + low) % count;
    }

    bool one_in(std::size_t count) { return below(count) == 0; }

    std::uint64_t word()
    {
        std::uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) {
            bits = bits << 8 | byte();
        }
        return bits;
    }

    template <class Options>
    auto one_of(const Options& options)
    {
        return *(std::begin(options) + static_cast<std::ptrdiff_t>(below(std::size(options))));
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::mt19937_64 generator_;
};

} // namespace skein::fuzz
