// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/CopyStatistics.h"

#include <algorithm>

namespace lanescope {

namespace {

/// The value below which `share` of the values in `[first, last)` lie, interpolated between
/// neighbours. What lies left of the result's place is smaller, what lies right of it greater.
double quantile(std::vector<double>& values, size_t first, size_t last, double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(place);
    const double fraction = place - static_cast<double>(low);
    const auto at = [&](size_t index) { return values.begin() + static_cast<ptrdiff_t>(index); };
    std::nth_element(at(first), at(low), at(last));
    const double value = *at(low);
    if (fraction == 0 || low + 1 >= values.size()) return value;
    const double next = *std::min_element(at(low + 1), at(last));
    return value + fraction * (next - value);
}

std::optional<double> percent(double part, double whole) {
    if (!(whole > 0)) return std::nullopt;
    return 100 * part / whole;
}

/// More is no error of rounding.
constexpr double beyondPeakPercent = 100.5;

}  // namespace

CopyRates ratesOf(std::vector<double>& values) {
    if (values.empty()) return {};
    CopyRates rates;
    const size_t count = values.size();
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    rates.minimum = *least;
    rates.maximum = *greatest;
    rates.median = quantile(values, 0, count, 0.5);
    // After the median every value stands on its side of it.
    const auto middle = static_cast<size_t>(0.5 * static_cast<double>(count - 1));
    rates.p10 = quantile(values, 0, std::min(middle + 2, count), 0.1);
    rates.p90 = quantile(values, middle, count, 0.9);
    return rates;
}

std::optional<int64_t> CopyStatistics::knownBytes() const {
    if (bytes == 0 && count > 0 && unratedCount == count) return std::nullopt;
    return bytes;
}

std::optional<double> CopyStatistics::meanGBps() const {
    if (!rates || ratedNs <= 0) return std::nullopt;
    return static_cast<double>(ratedBytes) / static_cast<double>(ratedNs);
}

std::optional<double> CopyStatistics::peakPercent() const {
    const std::optional<double> mean = meanGBps();
    if (!mean || !peak) return std::nullopt;
    return percent(*mean, peak->gigabytesPerSecond);
}

std::string_view CopyStatistics::whyBeyondPeak() const {
    const std::optional<double> share = peakPercent();
    if (!share || *share <= beyondPeakPercent) return {};
    switch (peak->link) {
        case LinkKind::Dram:
            return "served by the GPU's L2 cache, which is faster than the memory that the peak "
                   "is of";
        case LinkKind::HostCopy:
            return "faster than the large copies by which the peak was measured";
        case LinkKind::Pcie:
        case LinkKind::NvLink:
            break;
    }
    return "so small that buffers on the way take them in before the link has carried them";
}

std::optional<double> CopyStatistics::overlappedPercent() const {
    return percent(static_cast<double>(overlappedNs), static_cast<double>(gpuBusyNs));
}

}  // namespace lanescope
