#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace benchmarks {

/// The value that a fraction of the samples does not exceed: 0.5 for the median.
inline double quantile(std::vector<double> samples, double fraction)
{
    if (samples.empty()) {
        throw std::logic_error("no samples");
    }
    const auto last = static_cast<double>(samples.size() - 1);
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(last * fraction);
    std::nth_element(samples.begin(), at, samples.end());
    return *at;
}

} // namespace benchmarks
