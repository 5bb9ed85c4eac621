// SPDX-License-Identifier: Apache-2.0
#include "model/load/foreignFormats.h"

namespace lanescope {

namespace {

/// The keys that such files begin with: torch.profiler's own before the events, and theirs.
Result<bool> isChromeTrace(TraceSource& source) {
    const std::string_view start = source.start();
    const size_t first = start.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (start[first] != '{' && start[first] != '['))
        return false;
    for (const std::string_view key :
         {"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"", "\"ph\""})
        if (start.find(key) != std::string_view::npos) return true;
    return false;
}

Result<bool> isXplane(TraceSource& source) {
    return source.path().filename().string().ends_with(".xplane.pb") && !source.startsLikeSqlite();
}

}  // namespace

const TraceFormat chromeFormat{
    "chrome-json", "a JSON trace, such as torch.profiler writes",
    {".json"},     isChromeTrace,
    nullptr,       "open it with ui.perfetto.dev, or record the program with \"lanescope record\""};
const TraceFormat xplaneFormat{
    "xplane",       "an XPlane profile of JAX or TensorFlow",
    {".xplane.pb"}, isXplane,
    nullptr,        "open it with TensorBoard, or record the program with \"lanescope record\""};

}  // namespace lanescope
