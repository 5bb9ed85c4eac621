// SPDX-License-Identifier: Apache-2.0
#include "model/explain/launchedWork.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/compare/shownNumbers.h"
#include "model/values/Statistics.h"
#include "model/values/formatValue.h"

namespace lanescope::explain {

using namespace compare;

namespace {

struct Sum {
    int64_t count = 0, totalNs = 0, bytes = 0;
};

template <class Holds>
Sum sumOf(const WorkerSummary& worker, Holds holds) {
    Sum sum;
    for (const Contributor& each : worker.contributors) {
        if (!holds(each)) continue;
        sum.count = saturatingSum(sum.count, each.count);
        sum.totalNs = saturatingSum(sum.totalNs, each.totalNs);
        sum.bytes = saturatingSum(sum.bytes, each.bytes);
    }
    return sum;
}

/// In the mean step. One wait a step, as for its loss, leaves the rest of it to launch ahead.
constexpr double fewestDrained = 5;

}  // namespace

std::string launchedWork(const WorkerSummary& worker, std::string_view per) {
    if (worker.steps.empty()) return {};
    const auto perStep = [&](const Sum& sum) {
        return countText(static_cast<double>(sum.count) / static_cast<double>(worker.steps.size()));
    };
    const Sum kernels =
        sumOf(worker, [](const Contributor& each) { return each.part == StepPart::Compute; });
    const Sum copies =
        sumOf(worker, [](const Contributor& each) { return each.kind == ContributorKind::Copy; });
    if (copies.count > kernels.count)
        return fmt::format(
            "; {} copies{}{}, more than kernels", perStep(copies), per,
            copies.bytes > 0 ? fmt::format(" of {} each", formatBytes(copies.bytes / copies.count))
                             : "");
    if (kernels.count == 0) return {};
    const std::string count = perStep(kernels);
    return fmt::format(
        "; {} kernel{}{} of {} each", count, count == "1" ? "" : "s", per,
        timeText(static_cast<double>(kernels.totalNs) / static_cast<double>(kernels.count)));
}

std::string drainedSentence(const WorkerSummary& worker, std::string_view per) {
    // Time in a wait and behind it are two causes of one.
    int64_t within = 0, behind = 0;
    const Contributor* most = nullptr;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::Synchronization || each.kind != ContributorKind::Idle) continue;
        int64_t& sum = each.name.starts_with("after ") ? behind : within;
        sum = saturatingSum(sum, each.count);
        if (most == nullptr || each.exposedNs > most->exposedNs) most = &each;
    }
    const double times = static_cast<double>(std::max(within, behind)) /
                         static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
    if (times < fewestDrained) return {};
    return fmt::format(
        " {} times a {} the GPU has nothing left to do because the thread waits for it, mostly {}: "
        "while it does so nothing can be launched ahead, so take these waits out first.",
        countText(times), per, most->name);
}

}  // namespace lanescope::explain
