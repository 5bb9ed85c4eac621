#include "app/cli/parseRange.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace lanescope {

namespace {

constexpr double nsPerSecond = 1e9;
constexpr double largestNs = 9e18;  // 285 years, the most that 64 bits of nanoseconds hold

struct Unit {
    std::string_view name;
    double ns;
};
/// A plain number is in seconds.
constexpr std::array<Unit, 6> units{
    {{"", nsPerSecond}, {"s", nsPerSecond}, {"ms", 1e6}, {"us", 1e3}, {"\u00b5s", 1e3}, {"ns", 1}}};

std::optional<int64_t> nanoseconds(std::string_view text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
    const std::string_view name(stop, static_cast<size_t>(end - stop));
    for (const Unit& unit : units)
        if (unit.name == name && std::abs(number) * unit.ns <= largestNs)
            return std::llround(number * unit.ns);
    return std::nullopt;
}

}  // namespace

Result<TimeRange> parseRange(std::string_view text) {
    const auto malformed = [&] {
        return fail(
            "\"{}\" is no range; write START:END in seconds, such as 1.5:2.75, or with units, "
            "such as 10ms:25ms",
            text);
    };
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.size() == 1) return malformed();
    TimeRange range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    const std::string_view start = text.substr(0, colon);
    const std::string_view end = text.substr(colon + 1);
    if (!start.empty()) {
        const std::optional<int64_t> ns = nanoseconds(start);
        if (!ns) return malformed();
        range.startNs = *ns;
    }
    if (!end.empty()) {
        const std::optional<int64_t> ns = nanoseconds(end);
        if (!ns) return malformed();
        range.endNs = *ns;
    }
    if (range.isEmpty()) return fail("\"{}\" is an empty range: it ends before it starts", text);
    return range;
}

}  // namespace lanescope
