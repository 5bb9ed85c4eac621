// SPDX-License-Identifier: Apache-2.0
#include "model/format/optionValues.h"

#include <cmath>
#include <utility>

#include "model/format/text.h"

namespace lanescope {

namespace {

constexpr double nsPerSecond = 1e9;
constexpr double maxNs = 9e18;

}  // namespace

std::optional<double> nsPerUnit(std::string_view unit) {
    // Unicode has two micro signs.
    constexpr std::pair<std::string_view, double> units[] = {
        {"ns", 1},   {"us", 1e3},        {"\xc2\xb5s", 1e3},        {"\xce\xbcs", 1e3},
        {"ms", 1e6}, {"s", nsPerSecond}, {"min", 60 * nsPerSecond}, {"h", 3600 * nsPerSecond}};
    for (const auto& [name, ns] : units)
        if (name == unit) return ns;
    return std::nullopt;
}

std::optional<int64_t> parseDuration(std::string_view text) {
    text = trimmed(text);
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
    const std::string_view unit = trimmed({stop, static_cast<size_t>(end - stop)});
    const std::optional<double> ns = unit.empty() ? nsPerSecond : nsPerUnit(unit);
    if (!ns || std::abs(number) * *ns > maxNs) return std::nullopt;
    return std::llround(number * *ns);
}

}  // namespace lanescope
