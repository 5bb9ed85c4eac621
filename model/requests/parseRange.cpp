// SPDX-License-Identifier: Apache-2.0
#include "model/requests/parseRange.h"

#include <limits>
#include <optional>

#include "model/format/parseDuration.h"

namespace lanescope {

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
        const std::optional<int64_t> ns = parseDuration(start);
        if (!ns) return malformed();
        range.startNs = *ns;
    }
    if (!end.empty()) {
        const std::optional<int64_t> ns = parseDuration(end);
        if (!ns) return malformed();
        range.endNs = *ns;
    }
    if (range.isEmpty()) return fail("\"{}\" is an empty range: it ends before it starts", text);
    return range;
}

}  // namespace lanescope
