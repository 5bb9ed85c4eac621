// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/shownNumbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope::analysis {

namespace {

std::string withSign(double value, const std::string& text) {
    const bool isNothing = text.find_first_of("123456789") == std::string::npos;
    if (text.starts_with('-')) return "\u2212" + text.substr(1);
    return value > 0 && !isNothing ? "+" + text : text;
}

constexpr size_t maxNameColumns = 60;

/// Returns the name in the source, without parameters, which do not distinguish kernels.
std::string sourceName(std::string_view name) {
    std::string_view kept = name;
    if (kept.ends_with(')')) {
        int depth = 0;
        for (size_t at = kept.size(); at-- > 1;) {
            if (kept[at] == ')') ++depth;
            if (kept[at] != '(' || --depth > 0) continue;
            kept = kept.substr(0, at);
            break;
        }
    }
    return printable(withoutReturnType(kept));
}

}  // namespace

std::string timeText(double ns) { return formatDuration(std::llround(ns)); }

std::string timeDifferenceText(double ns) { return withSign(ns, timeText(ns)); }

std::string percentText(double percent) {
    const std::string text = fmt::format("{:.1f}", percent);
    return text == "-0.0" ? "0.0" : withThousands(text);
}

std::string percentDifferenceText(double percent) { return withSign(percent, percentText(percent)); }

std::string pValueText(double pValue) { return pValue < 0.001 ? "< 0.001" : fmt::format("{:.2g}", pValue); }

std::string pValueEquation(double pValue) { return (pValue < 0.001 ? "p " : "p = ") + pValueText(pValue); }

std::string rateText(double gigabytesPerSecond) {
    if (gigabytesPerSecond >= 0.0995) return withThousands(fmt::format("{:.1f}", gigabytesPerSecond));
    return gigabytesPerSecond >= 0.00095 ? fmt::format("{:.2g}", gigabytesPerSecond) : "< 0.001";
}

std::string countText(double count) {
    return withThousands(count == std::floor(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.4g}", count));
}

std::string ordinalText(int64_t number) {
    static constexpr std::array<std::string_view, 4> words{"second", "third", "fourth", "fifth"};
    if (number >= 2 && number < 2 + static_cast<int64_t>(words.size()))
        return std::string(words[static_cast<size_t>(number - 2)]);
    const int64_t last = number % 100 / 10 == 1 ? 0 : number % 10;
    return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string shortContributorName(std::string_view name, bool isOfIdleTime) {
    // Our own words, except for file names and functions of any length.
    if (constexpr size_t maxIdleNameBytes = 240; isOfIdleTime)
        return name.size() <= maxIdleNameBytes ? printable(name) : elideEnd(sourceName(name), 200);
    std::string text = sourceName(name);
    if (displayWidth(text) <= maxNameColumns) return text;
    // Templates of one library are all the same when truncated.
    if (std::string known = knownKernelName(name); !known.empty()) text = printable(known);
    return elideEnd(text, maxNameColumns);
}

std::string shortName(const ContributorName& name) { return shortContributorName(name.text(), name.isIdle()); }

std::string replacedName(const ContributorName& name, const ContributorName& by) {
    std::string text = shortName(name);
    return text == shortName(by) ? elideEnd(sourceName(name.text()), maxNameColumns) : text;
}

}  // namespace lanescope::analysis
