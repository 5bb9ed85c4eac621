// SPDX-License-Identifier: Apache-2.0
#include "model/export/comparison/ChartAxis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lanescope::report {

ChartAxis::ChartAxis(double fromNs, double toNs, double fromPixel, double toPixel)
    : fromNs_(fromNs),
      toNs_(toNs > fromNs ? toNs : fromNs + 1),
      fromPixel_(fromPixel),
      toPixel_(toPixel) {}

double ChartAxis::pixelOf(double ns) const {
    return fromPixel_ + (ns - fromNs_) / (toNs_ - fromNs_) * (toPixel_ - fromPixel_);
}

double ChartAxis::stepNs(int count) const {
    const double rough = (toNs_ - fromNs_) / std::max(count, 1);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough) return factor * power;
    return 10 * power;
}

std::vector<double> ChartAxis::marks(int count) const {
    const double step = stepNs(count);
    std::vector<double> result;
    // By number, not by adding up: far from zero the step could be lost in rounding.
    const double first = std::ceil(fromNs_ / step - 1e-9);
    for (int index = 0; index <= 4 * count; ++index) {
        const double ns = (first + index) * step;
        if (ns > toNs_ + step * 1e-9) break;
        result.push_back(ns);
    }
    return result;
}

std::string ChartAxis::label(double ns, int count) const {
    const DurationScale scale =
        DurationScale::fitting(static_cast<int64_t>(std::max(std::abs(fromNs_), std::abs(toNs_))));
    const double unit = static_cast<double>(scale.unitNs);
    const int decimals =
        std::clamp(static_cast<int>(std::ceil(-std::log10(stepNs(count) / unit) - 1e-9)), 0, 6);
    return fmt::format("{:.{}f} {}", ns / unit, decimals, scale.unit);
}

std::string runColorClass(int run) {
    constexpr int candidateColors = 6;
    return fmt::format("run{}", run <= 0 ? 0 : (run - 1) % candidateColors + 1);
}

std::string svgNumber(double value) {
    if (!std::isfinite(value)) return "0";
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

}  // namespace lanescope::report
