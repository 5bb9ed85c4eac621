// SPDX-License-Identifier: Apache-2.0
#include "model/explain/recorderShare.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/compare/shownNumbers.h"

namespace lanescope::explain {

using namespace compare;

namespace {

/// All parts of a merged trace are.
bool isOwnRecording(std::string_view producer) {
    return producer.starts_with("Lanescope ") && producer.find(" and ") == std::string_view::npos;
}

double launchesPerStep(const WorkerSummary& worker) {
    return static_cast<double>(worker.launches.count) / static_cast<double>(worker.steps.size());
}

}  // namespace

int64_t recorderShareNs(const RunSummary& run, const WorkerSummary& worker) {
    if (!isOwnRecording(run.facts.producer) || worker.steps.empty()) return 0;
    const int64_t eachNs =
        std::clamp<int64_t>(worker.launches.medianNs - plainLaunchNs, 0, mostRecorderNs);
    return static_cast<int64_t>(std::min(launchesPerStep(worker) * static_cast<double>(eachNs),
                                         static_cast<double>(greatestTimeNs)));
}

std::string recorderSentence(const WorkerSummary& worker, int64_t ns, std::string_view per) {
    if (ns <= 0 || worker.steps.empty()) return {};
    const std::string count = countText(launchesPerStep(worker));
    const std::string launches = fmt::format("{} launch{}", count, count == "1" ? "" : "es");
    const bool isAll = worker.launches.medianNs - plainLaunchNs <= mostRecorderNs;
    return fmt::format(
        " Up to {}{} more may be the recorder's: {}.", timeText(static_cast<double>(ns)), per,
        isAll ? fmt::format("{} took {} each, and unrecorded ones {} where that was measured",
                            launches, timeText(static_cast<double>(worker.launches.medianNs)),
                            timeText(static_cast<double>(plainLaunchNs)))
              : fmt::format("{} at most for each of {}",
                            timeText(static_cast<double>(mostRecorderNs)), launches));
}

}  // namespace lanescope::explain
