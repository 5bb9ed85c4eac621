// SPDX-License-Identifier: Apache-2.0
#include "model/values/DurationScale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/values/formatValue.h"

namespace lanescope {

DurationScale DurationScale::fitting(int64_t greatestNs) {
    const int64_t size = std::abs(greatestNs);
    if (size >= 1'000'000'000) return {1'000'000'000, "s", 3};
    if (size >= 1'000'000) return {1'000'000, "ms", 3};
    if (size >= 1'000) return {1'000, "us", 3};
    return {1, "ns", 0};
}

DurationScale DurationScale::ofStep(int64_t stepNs) {
    constexpr int64_t longestInMs = 100'000'000'000;
    return fitting(stepNs < longestInMs ? std::min<int64_t>(stepNs, 999'999'999) : stepNs);
}

std::string DurationScale::number(int64_t ns) const {
    // In whole quanta, so that a number in its place never rounds to "-0.000".
    const int64_t quantum = quantumNs();
    const auto quanta = std::llround(static_cast<double>(ns) / static_cast<double>(quantum));
    if (decimals == 0) return withThousands(fmt::format("{}", quanta));
    return withThousands(fmt::format("{}{}.{:03}", quanta < 0 ? "-" : "", std::abs(quanta) / 1000,
                                     std::abs(quanta) % 1000));
}

std::string DurationScale::difference(int64_t ns) const {
    const std::string text = number(ns);
    const bool isNothing = text.find_first_not_of("0.") == std::string::npos;
    return ns > 0 && !isNothing ? "+" + text : text;
}

std::string DurationScale::text(int64_t ns) const {
    return fmt::format("{} {}", number(ns), unit);
}

std::string DurationScale::differenceText(int64_t ns) const {
    return fmt::format("{} {}", difference(ns), unit);
}

}  // namespace lanescope
