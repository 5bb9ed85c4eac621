// SPDX-License-Identifier: Apache-2.0
#include "model/load/jsonFormat.h"

#include <algorithm>
#include <array>

#include "model/load/json/JsonCursor.h"
#include "model/load/json/readJsonTrace.h"
#include "model/load/packedFormats.h"

namespace lanescope {

namespace {

/// The keys that such files begin with: torch.profiler's own before the events, and theirs. Of a
/// file whose first byte is damaged two must be there.
Result<bool> isChromeTrace(TraceSource& source) {
    constexpr std::array<std::string_view, 8> keys{"\"traceEvents\"",
                                                   "\"schemaVersion\"",
                                                   "\"deviceProperties\"",
                                                   "\"distributedInfo\"",
                                                   "\"baseTimeNanoseconds\"",
                                                   "\"displayTimeUnit\"",
                                                   "\"ph\"",
                                                   "\"ts\""};
    const std::string_view start = source.start();
    JsonCursor cursor(start);
    cursor.skipMark();
    cursor.skipSpace();
    if (cursor.isAtEnd() || source.startsLikeSqlite() || isPacked(source)) return false;
    const auto found = std::count_if(keys.begin(), keys.end(), [start](std::string_view key) {
        return start.find(key) != std::string_view::npos;
    });
    return found > (cursor.takes('{') || cursor.takes('[') ? 0 : 1);
}

Result<void> readEvents(TraceSource& source, TraceBuilder& builder, const LoadProgress& progress) {
    return readJsonTrace([&source](std::span<char> bytes) { return source.read(bytes); }, builder,
                         source.threads(), [&source] { return source.fractionRead(); }, progress,
                         mostJsonBytesOf(source));
}

}  // namespace

uint64_t mostJsonBytesOf(const TraceSource& source) {
    constexpr uint64_t mostOfSmall = uint64_t{256} << 20, mostTimes = 200;
    if (!source.isCompressed()) return mostJsonBytes;
    return std::min(mostJsonBytes,
                    mostOfSmall + mostTimes * std::min(source.fileBytes(), mostJsonBytes));
}

const TraceFormat chromeFormat{"chrome-json",
                               "a JSON trace, such as torch.profiler writes",
                               {".json"},
                               isChromeTrace,
                               readEvents};

}  // namespace lanescope
