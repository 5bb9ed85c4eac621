#include "model/bandwidth/CopyStatistics.h"

namespace lanescope {

namespace {

std::optional<double> percent(double part, double whole) {
    if (!(whole > 0)) return std::nullopt;
    return 100 * part / whole;
}

}  // namespace

std::optional<double> CopyStatistics::meanGBps() const {
    if (!rates || ratedNs <= 0) return std::nullopt;
    return static_cast<double>(ratedBytes) / static_cast<double>(ratedNs);
}

std::optional<double> CopyStatistics::busyGBps() const {
    if (!rates || busyNs <= 0) return std::nullopt;
    return static_cast<double>(ratedBytes) / static_cast<double>(busyNs);
}

std::optional<double> CopyStatistics::peakPercent() const {
    const std::optional<double> mean = meanGBps();
    if (!mean || !peak) return std::nullopt;
    return percent(*mean, peak->gigabytesPerSecond);
}

std::optional<double> CopyStatistics::overlappedPercent() const {
    return percent(static_cast<double>(overlappedNs), static_cast<double>(gpuBusyNs));
}

}  // namespace lanescope
