// SPDX-License-Identifier: Apache-2.0
#include "model/explain/launchedWork.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/analysis/shownNumbers.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// "of the launches" already includes it.
constexpr std::string_view launched = "launched ";

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

/// Minimum waits per mean step that drain the GPU. With one, as for a loss, the thread can launch ahead for the rest.
constexpr double minDrainsPerStep = 5;

double drainsPerStep(const WorkerSummary& worker) {
    return static_cast<double>(worker.drains) / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

/// Kernels per step from which it matters; their share in compiled programs; programs; mean kernels of a program.
constexpr double minSingleKernels = 20, minShareInPrograms = 0.8, maxKernelsPerProgram = 3;
constexpr size_t minPrograms = 3;
/// Ending of the known name of a range around a compiled program.
constexpr std::string_view programRange = " (XlaModule)";

/// A step with at most this number of launches, such as one of a graph or of a compiled program, has few launches.
constexpr double maxFewLaunches = 2.5;

double launchesPerStep(const WorkerSummary& worker) {
    return static_cast<double>(worker.launches.count) / static_cast<double>(worker.steps.size());
}

}  // namespace

std::string launchedWork(const WorkerSummary& worker, std::string_view per) {
    if (worker.steps.empty()) return {};
    const auto perStep = [&](const Sum& sum) {
        return countText(static_cast<double>(sum.count) / static_cast<double>(worker.steps.size()));
    };
    const Sum kernels = sumOf(worker, [](const Contributor& each) { return each.part == StepPart::Compute; });
    const Sum copies = sumOf(worker, [](const Contributor& each) { return each.kind == ContributorKind::Copy; });
    if (copies.count > kernels.count)
        return fmt::format(
            "; {} copies{}{}, more than kernels", perStep(copies), per,
            copies.bytes > 0 ? fmt::format(" of {} each", formatBytes(copies.bytes / copies.count)) : "");
    if (kernels.count == 0) return {};
    const std::string count = perStep(kernels);
    const LaunchTimes& launches = worker.launches;
    const std::string place =
        launches.place.empty()
            ? ""
            : fmt::format(
                  ", {} % of the launches {}",
                  percentText(100 * static_cast<double>(launches.placeCount) / static_cast<double>(launches.count)),
                  shortContributorName(
                      launches.place.starts_with(launched) ? launches.place.substr(launched.size()) : launches.place,
                      true));
    return fmt::format("; {} kernel{}{} of {} each{}", count, count == "1" ? "" : "s", per,
                       timeText(static_cast<double>(kernels.totalNs) / static_cast<double>(kernels.count)), place);
}

bool isDispatchedSingly(const WorkerSummary& worker) {
    struct Program {
        int64_t kernels = 0, names = 0;
    };
    std::map<std::string_view, Program> programs;
    double all = 0, within = 0, names = 0;
    for (const Contributor& each : worker.contributors) {
        if (each.kind != ContributorKind::Kernel) continue;
        all += static_cast<double>(each.count);
        const size_t end = each.path.find(programRange);
        if (end == std::string::npos) continue;
        Program& program = programs[std::string_view(each.path).substr(0, end)];
        program.kernels = saturatingSum(program.kernels, each.count);
        ++program.names;
    }
    for (const auto& [name, program] : programs) {
        within += static_cast<double>(program.kernels);
        names += static_cast<double>(program.kernels) * static_cast<double>(program.names);
    }
    return programs.size() >= minPrograms && within >= minShareInPrograms * all &&
           all >= minSingleKernels * static_cast<double>(worker.steps.size()) && names <= maxKernelsPerProgram * within;
}

bool isDrained(const WorkerSummary& worker) { return drainsPerStep(worker) >= minDrainsPerStep; }

std::string drainedSentence(const WorkerSummary& worker, std::string_view per) {
    if (!isDrained(worker)) return {};
    const Contributor* most = nullptr;
    for (const Contributor& each : worker.contributors)
        if (each.part == StepPart::Synchronization && each.kind == ContributorKind::Idle &&
            (most == nullptr || each.exposedNs > most->exposedNs))
            most = &each;
    return fmt::format(
        " {} times{} the GPU runs out of work because the thread waits for it{}. Nothing can be launched ahead of "
        "these waits, so remove them first.",
        countText(drainsPerStep(worker)), per, most == nullptr ? "" : ", mostly " + most->name.text());
}

bool hasFewLaunches(const WorkerSummary& worker) {
    return worker.launches.count > 0 && launchesPerStep(worker) <= maxFewLaunches;
}

int64_t overheadShareNs(const RunSummary& run, const WorkerSummary& worker) {
    if (run.facts.producerKind != ProducerKind::Lanescope || worker.steps.empty()) return 0;
    const int64_t eachNs = std::clamp<int64_t>(worker.launches.medianNs - plainLaunchNs, 0, maxOverheadNs);
    return static_cast<int64_t>(
        std::min(launchesPerStep(worker) * static_cast<double>(eachNs), static_cast<double>(maxTimestampNs)));
}

std::string overheadSentence(const WorkerSummary& worker, int64_t ns, std::string_view per) {
    if (ns <= 0 || worker.steps.empty()) return {};
    const std::string count = countText(launchesPerStep(worker));
    const std::string launches = fmt::format("{} launch{}", count, count == "1" ? "" : "es");
    const bool isAll = worker.launches.medianNs - plainLaunchNs <= maxOverheadNs;
    return fmt::format(
        " Up to {}{} more may be profiler overhead: {}.", timeText(static_cast<double>(ns)), per,
        isAll ? fmt::format("{} took {} each, unprofiled launches {} in a reference measurement", launches,
                            timeText(static_cast<double>(worker.launches.medianNs)),
                            timeText(static_cast<double>(plainLaunchNs)))
              : fmt::format("at most {} for each of {}", timeText(static_cast<double>(maxOverheadNs)), launches));
}

}  // namespace lanescope::explain
