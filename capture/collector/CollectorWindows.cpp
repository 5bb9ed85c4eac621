// SPDX-License-Identifier: Apache-2.0
// What of a trace lies outside the windows of its processes.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "capture/collector/Collector.h"
#include "capture/collector/trimThreadsToWindows.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::capture {

Result<void> Collector::trimToRecordedWindows() {
    RecordedWindows windows;
    for (const auto& [path, log] : logs_) {
        const auto ranges = log->windows();
        if (!ranges) continue;
        std::vector<TimeRange>& all = windows[log->processId()];
        all.insert(all.end(), ranges->begin(), ranges->end());
        std::sort(all.begin(), all.end(),
                  [](const TimeRange& a, const TimeRange& b) { return a.startNs < b.startNs; });
    }
    const Result<int64_t> trimmed = trimToWindows(trace_->database(), windows);
    if (!trimmed) return fail(trimmed.error());
    if (*trimmed > 0)
        trace_->health(Severity::Info, HealthCode::LaunchedOutsideWindows,
                       fmt::format("{} operations of GPUs were left out: they were launched before "
                                   "their process recorded.",
                                   *trimmed),
                       {}, {}, *trimmed);
    return trimThreads(windows);
}

/// Threads of processes that tell of no windows, as those of a data loader, are kept for as long as
/// anybody recorded.
Result<void> Collector::trimThreads(RecordedWindows& windows) {
    std::vector<TimeRange> anybodys;
    for (auto& [process, ranges] : windows) {
        anybodys.insert(anybodys.end(), ranges.begin(), ranges.end());
        ranges = joined(ranges);
    }
    agent::AgentOptions asked;
    agent::readOptionText(info_.options, asked);
    if (asked.windows.trigger == agent::WindowTrigger::Time) {
        const int64_t startNs = asked.windows.delayNs;
        anybodys.push_back({startNs, asked.windows.durationNs > 0
                                         ? startNs + asked.windows.durationNs
                                         : greatestTimeNs});
    }
    if (windows.empty() && anybodys.empty()) return {};
    anybodys = joined(std::move(anybodys));
    std::set<int64_t> logged;
    for (const auto& [path, log] : logs_)
        if (log->isWorthShowing()) logged.insert(log->processId());
    const Result<int64_t> leftOut = trimThreadsToWindows(
        trace_->database(), [&](int64_t process) -> const std::vector<TimeRange>* {
            const auto own = windows.find(process);
            if (own != windows.end()) return &own->second;
            return logged.contains(process) ? nullptr : &anybodys;
        });
    if (!leftOut) return fail(leftOut.error());
    if (*leftOut > 0)
        trace_->health(Severity::Info, HealthCode::Windows,
                       fmt::format("{} states, switches and samples of threads were left out: they "
                                   "lie outside the windows.",
                                   *leftOut),
                       {}, {}, *leftOut);
    return {};
}

}  // namespace lanescope::capture
