// SPDX-License-Identifier: Apache-2.0
#include "model/compare/shownNumbers.h"

#include <fmt/format.h>

#include <cmath>

#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

std::string withSign(double value, std::string text) {
    const bool isNothing = text.find_first_of("123456789") == std::string::npos;
    return value > 0 && !isNothing ? "+" + text : text;
}

}  // namespace

std::string timeText(double ns) {
    return formatDuration(std::llround(ns));
}

std::string timeDifferenceText(double ns) {
    return withSign(ns, timeText(ns));
}

std::string percentText(double percent) {
    const std::string text = fmt::format("{:.1f}", percent);
    return text == "-0.0" ? "0.0" : withThousands(text);
}

std::string percentDifferenceText(double percent) {
    return withSign(percent, percentText(percent));
}

std::string pValueText(double pValue) {
    return pValue < 0.001 ? "< 0.001" : fmt::format("{:.2g}", pValue);
}

std::string pValueEquation(double pValue) {
    return (pValue < 0.001 ? "p " : "p = ") + pValueText(pValue);
}

std::string rateText(double gigabytesPerSecond) {
    if (gigabytesPerSecond >= 0.0995)
        return withThousands(fmt::format("{:.1f}", gigabytesPerSecond));
    return gigabytesPerSecond >= 0.00095 ? fmt::format("{:.2g}", gigabytesPerSecond) : "< 0.001";
}

std::string countText(double count) {
    return withThousands(count == std::floor(count) ? fmt::format("{:.0f}", count)
                                                    : fmt::format("{:.4g}", count));
}

}  // namespace lanescope::compare
