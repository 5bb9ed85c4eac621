// SPDX-License-Identifier: Apache-2.0
#include "app/cli/runReport.h"

#include <fmt/format.h>

#include "app/cli/Command.h"
#include "model/values/formatValue.h"

namespace lanescope::cli {

namespace {

constexpr size_t maximumWarnings = 8;
/// Less is read in no time, and says nothing of whether the collector kept up.
constexpr int64_t muchUnread = int64_t{1} << 20;

}  // namespace

std::string countsSentence(const capture::ImportCounts& counts) {
    std::string text;
    for (int index = 0; index < capture::importedKindCount; ++index) {
        const auto kind = static_cast<capture::ImportedKind>(index);
        if (counts.of(kind) == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format(
            "{} {}", formatCount(counts.of(kind)),
            counts.of(kind) == 1 ? capture::singularName(kind) : capture::pluralName(kind));
        if (counts.untimedOf(kind) > 0)
            text += fmt::format(" ({} not timed)", formatCount(counts.untimedOf(kind)));
    }
    return text.empty() ? "no event" : text;
}

void sayWhatIsIn(const capture::CollectedRun& run) {
    if (run.processes == 0 && run.threadStates > 0)
        return say(
            fmt::format("{} holds what threads did and no other event.", run.trace.string()));
    say(fmt::format("{} holds {} of {} process{}.", run.trace.string(), countsSentence(run.counts),
                    run.processes, run.processes == 1 ? "" : "es"));
}

void sayHowItClosed(const capture::CollectedRun& run) {
    if (run.closingNs == 0) return;
    std::string sentence = fmt::format("It was complete {} after the last process ended",
                                       formatDuration(run.closingNs));
    if (run.logBytesUnreadAtExit.value_or(0) > muchUnread)
        sentence += fmt::format("; {} of the logs were unread when the program did",
                                formatBytes(*run.logBytesUnreadAtExit));
    say(sentence + ".");
}

void reportWarnings(const capture::CollectedRun& run) {
    for (size_t index = 0; index < run.warnings.size() && index < maximumWarnings; ++index)
        reportWarning(run.warnings[index]);
    if (run.warnings.size() > maximumWarnings)
        reportWarning(fmt::format("{} more: see 'lanescope info {}'.",
                                  run.warnings.size() - maximumWarnings, run.trace.string()));
}

}  // namespace lanescope::cli
