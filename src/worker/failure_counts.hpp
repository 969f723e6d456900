#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace skein::worker {

/// How often messages have failed in a row, as far as this run has seen: the file does not count.
/// Of the many that other workers may have finished, the oldest are forgotten.
class failure_counts {
public:
    [[nodiscard]] std::int64_t of(std::int64_t seq) const
    {
        const auto found = counts_.find(seq);
        return found == counts_.end() ? 0 : found->second;
    }

    void note_failure(std::int64_t seq)
    {
        ++counts_[seq];
        if (counts_.size() > most) {
            counts_.erase(counts_.begin());
        }
    }

    void forget(std::int64_t seq) { counts_.erase(seq); }

private:
    static constexpr std::size_t most = 10'000;

    std::map<std::int64_t, std::int64_t> counts_; ///< by the messages' numbers
};

} // namespace skein::worker
