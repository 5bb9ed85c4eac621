#include "app/cli/parseRange.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace lanescope {

namespace {

constexpr double nsPerSecond = 1e9;
constexpr double largestSeconds = 9e9;  // 285 years, the most that 64 bits of nanoseconds hold

std::optional<int64_t> nanoseconds(std::string_view text) {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc() || stop != end || !std::isfinite(seconds)) return std::nullopt;
    if (std::abs(seconds) > largestSeconds) return std::nullopt;
    return std::llround(seconds * nsPerSecond);
}

}  // namespace

Result<TimeRange> parseRange(std::string_view text) {
    const auto malformed = [&] {
        return fail("\"{}\" is no range; write START:END in seconds, such as 1.5:2.75", text);
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
