// SPDX-License-Identifier: Apache-2.0
#include "app/cli/loadForCommand.h"

#include "app/cli/Command.h"
#include "app/cli/ProgressLine.h"
#include "model/index/openTrace.h"
#include "model/live/loadLiveTrace.h"
#include "model/trace/notesOf.h"

namespace lanescope::cli {

Result<TracePtr> loadForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    const auto show = [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    };
    const std::optional<LiveTrace> live = liveTraceAt(path);
    if (live && path == live->partial && stateOf(*live) == LiveState::Recording)
        return loadLiveTrace(*live, show);
    return openTrace(path, {}, show);
}

Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    return ensureIndex(path, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    });
}

void reportHealth(const Trace& trace) {
    for (const HealthNote& note : notesOf(trace))
        if (note.severity != Severity::Info)
            reportWarning(fmt::format("{}: {}", trace.title, shownText(note)));
}

}  // namespace lanescope::cli
