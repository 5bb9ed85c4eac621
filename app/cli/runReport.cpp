#include "app/cli/runReport.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/cli/Command.h"

namespace lanescope {

namespace {

constexpr size_t maximumWarnings = 8;

std::string grouped(int64_t number) {
    std::string digits = std::to_string(number);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<size_t>(at), ",");
    return digits;
}

}  // namespace

std::string countsSentence(const ImportCounts& counts) {
    std::string text;
    for (int index = 0; index < importedKindCount; ++index) {
        const auto kind = static_cast<ImportedKind>(index);
        if (counts.of(kind) == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {}", grouped(counts.of(kind)), pluralName(kind));
        if (counts.untimedOf(kind) > 0)
            text += fmt::format(" ({} not timed)", grouped(counts.untimedOf(kind)));
    }
    return text.empty() ? "no event" : text;
}

void printRun(const CollectedRun& run) {
    fmt::print(stderr, "lanescope: {} holds {} of {} process{}.\n", run.trace.string(),
               countsSentence(run.counts), run.processes, run.processes == 1 ? "" : "es");
    for (size_t index = 0; index < run.warnings.size() && index < maximumWarnings; ++index)
        reportWarning(run.warnings[index]);
    if (run.warnings.size() > maximumWarnings)
        reportWarning(fmt::format("{} more: see 'lanescope info {}'.",
                                  run.warnings.size() - maximumWarnings, run.trace.string()));
}

}  // namespace lanescope
