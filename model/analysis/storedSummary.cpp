// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedSummary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "model/analysis/StoredRows.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/parseNumber.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Stored.h"
#include "model/text/formatValue.h"
#include "model/trace/fields.h"
#include "model/trace/gpuNames.h"

namespace lanescope::analysis {

/// Calls `visit(name, member)` for each fact in `LANESCOPE_STORED`, by its name there. A list has a row for each text.
void forEachStoredFact(Of<RunSummary> auto& s, auto&& visit) {
    visit("contentHash", s.facts.contentHash);
    visit("stepSource", s.source);
    visit("stepKind", s.kind);
    visit("rangesPerStep", s.rangesPerStep);
    visit("stepPattern", s.pattern);
    visit("stepUnit", s.units);
    visit("onlyCall", s.onlyCall);
    visit("deferred", s.deferred);
    visit("producer", s.facts.producer);
    visit("producerKind", s.facts.producerKind);
    visit("driver", s.facts.driver);
    visit("cuda", s.facts.cuda);
    visit("commandLine", s.facts.commandLine);
    visit("host", s.facts.host);
    visit("startUtcNs", s.facts.startUtcNs);
    visit("recordOptions", s.facts.recordOptions);
    visit("smClockHz", s.facts.smClockHz);
    visit("cpuLimitPercent", s.facts.cpuLimitPercent);
    visit("otherGpuProcess", s.facts.otherGpuProcesses);
    visit("worldSize", s.facts.worldSize);
    visit("kernelCount", s.facts.kernelCount);
    visit("isNvlinkPresent", s.facts.isNvlinkPresent);
    visit("hasApiCalls", s.facts.hasApiCalls);
    visit("isTruncated", s.facts.isTruncated);
    visit("nvlinkUse", s.nvlink.use);
    visit("nvlinkEvidence", s.nvlink.evidence);
    visit("nvlinkBytesPerStep", s.nvlink.bytesPerStep);
    visit("nvlinkStepEvidence", s.nvlink.stepEvidence);
    visit("nvlinkBestBytesPerSecond", s.nvlink.bestBytesPerSecond);
    visit("gpuName", s.facts.gpuNames);
}

namespace {

/// Maximum stored time, some thirty years. A longer time is invalid, and sums could overflow.
constexpr int64_t longestNs = 1'000'000'000'000'000'000;

bool isTime(int64_t ns) { return ns >= 0 && ns <= longestNs; }

bool areStepsGood(const WorkerSummary& worker) {
    int64_t endNs = -longestNs;
    int64_t allNs = 0;
    for (const StepSummary& step : worker.steps) {
        if (step.startNs < endNs || step.startNs > longestNs || !isTime(step.wallNs) ||
            !isTime(step.onCpuNs.value_or(0)) || step.activePerSecond.value_or(0) < 0)
            return false;
        for (const int64_t ns : step.parts.ns)
            if (ns < 0 || ns > step.wallNs) return false;
        if (step.parts.sum() != step.wallNs) return false;
        endNs = step.startNs + step.wallNs;
        allNs += step.wallNs;
        if (!isTime(allNs)) return false;
    }
    const auto count = static_cast<int64_t>(worker.steps.size());
    return isTime(worker.workNs) && worker.warmUpSteps >= 0 && worker.foundSteps >= count &&
           worker.warmUpSteps <= worker.foundSteps - count;
}

bool areContributorsGood(const WorkerSummary& worker) {
    StepParts sums;
    std::array<size_t, stepPartCount> counts{};
    for (const Contributor& each : worker.contributors) {
        const bool isGood = (each.kind == ContributorKind::Idle) == each.name.isIdle() && each.count >= 0 &&
                            isTime(each.exposedNs) && each.totalNs >= 0 && each.bytes >= 0 && each.busBytes >= 0 &&
                            each.order >= 0 && each.waitedNs >= 0 && each.waitedNs <= each.exposedNs &&
                            each.workedNs >= 0 && each.workedNs <= each.exposedNs - each.waitedNs &&
                            each.longCount >= 0 && each.gilNs >= 0 && each.gilNs <= each.exposedNs;
        if (!isGood || ++counts[static_cast<size_t>(each.part)] > maxContributors + 1) return false;
        sums[each.part] += each.exposedNs;
        if (!isTime(sums[each.part])) return false;
    }
    return sums == worker.totalParts();
}

constexpr size_t maxPhases = 3;

bool arePhasesGood(const WorkerSummary& worker) {
    int64_t allNs = 0;
    for (const PhaseSummary& phase : worker.phases) {
        if (phase.contributors.size() > maxPhaseContributors + 1) return false;
        for (const Contributor& each : phase.contributors) {
            if ((each.kind == ContributorKind::Idle) != each.name.isIdle() || each.count < 0 || !isTime(each.exposedNs))
                return false;
            allNs += each.exposedNs;
            if (!isTime(allNs)) return false;
        }
    }
    return worker.phases.size() <= maxPhases && std::ranges::is_sorted(worker.phases, {}, &PhaseSummary::phase);
}

bool areDistinctionsGood(const WorkerSummary& worker) {
    const auto steps = static_cast<int64_t>(worker.steps.size());
    const auto kindOf = [](const Distinction& each) { return each.of; };
    return std::ranges::adjacent_find(worker.distinctions, std::ranges::greater_equal(), kindOf) ==
               worker.distinctions.end() &&
           std::ranges::all_of(worker.distinctions, [steps](const Distinction& each) {
               return each.steps > 0 && each.steps <= steps && isTime(each.ns) && each.count >= 0 && each.others >= 0;
           });
}

bool areOutliersGood(const WorkerSummary& worker) {
    return worker.outliers.size() <= maxOutliers && std::ranges::all_of(worker.outliers, [](const auto& step) {
               return isTime(step.wallNs) && isTime(step.excessNs) && isTime(step.partExcessNs) && step.number >= 0;
           });
}

bool areForecastsGood(const WorkerSummary& worker) {
    std::set<causality::Subject> subjects;
    return std::ranges::all_of(worker.forecasts, [&](const StepForecast& each) {
        return subjects.insert(each.subject).second && each.savedNs >= -longestNs && each.savedNs <= longestNs &&
               isTime(each.marginNs);
    });
}

bool isPathGood(const WorkerSummary& worker) {
    constexpr int64_t maxNs = longestNs / maxPathTimes;
    return worker.path.size() <= maxPathTimes && std::ranges::all_of(worker.path, [](const PathTime& each) {
               return each.ns >= 0 && each.ns <= maxNs && std::isfinite(each.count) && each.count >= 0;
           });
}

/// Maximum stored clock, faster than any GPU.
constexpr int64_t maxStoredHz = 1'000'000'000'000;

bool isHz(int64_t hz) { return hz >= 0 && hz <= maxStoredHz; }

bool areConditionsGood(const WorkerSummary& worker) {
    int64_t knownNs = 0;
    std::optional<uint64_t> before;
    for (const ClockState& each : worker.clocks) {
        const bool isInOrder = !before || each.reasons > *before;
        if (!isInOrder || (each.reasons & ~slowingReasons()) != 0 || !isTime(each.ns) || !isHz(each.smClockHz) ||
            !isTime(each.longestNs) || each.longestNs > each.ns || each.longestStartNs < -longestNs ||
            each.longestStartNs > longestNs)
            return false;
        before = each.reasons;
        knownNs += each.ns;
        if (knownNs > worker.totalWallNs()) return false;
    }
    const LoaderTimes& loaders = worker.loaders;
    // Each is checked before they are summed.
    for (const int64_t ns : {loaders.knownNs, loaders.ranNs, loaders.noCoreNs, loaders.inputNs})
        if (!isTime(ns)) return false;
    if (loaders.threads < 0 || (loaders.threads == 0) != (loaders.knownNs == 0) ||
        loaders.ranNs + loaders.noCoreNs + loaders.inputNs > loaders.knownNs)
        return false;
    if (const auto& waits = worker.coreWaits;
        waits && (waits->threads < 0 || waits->threads > int64_t{noIndex} || !isTime(waits->ns) ||
                  (waits->threads == 0) != (waits->ns == 0)))
        return false;
    const LaunchTimes& launches = worker.launches;
    if (launches.count < 0 || launches.count > int64_t{noIndex} || !isTime(launches.medianNs) ||
        (launches.count == 0 && launches.medianNs > 0) || launches.placeCount < 0 ||
        launches.placeCount > launches.count)
        return false;
    const StepPauses& pauses = worker.pauses;
    return isHz(worker.highestSmClockHz) && isTime(worker.heldBackNs.value_or(0)) && isTime(worker.rest.ns) &&
           worker.rest.ns <= pauses.idleNs && pauses.count >= 0 && isTime(pauses.ns) && pauses.idleNs >= 0 &&
           pauses.idleNs <= pauses.ns && isTime(pauses.longestNs) && pauses.longestStartNs >= -longestNs &&
           pauses.longestStartNs <= longestNs && worker.allocations.allocations >= 0 && worker.allocations.frees >= 0 &&
           worker.compilations >= 0 && worker.drains >= 0 && worker.streams.streams >= 0 &&
           worker.streams.operations >= 0 && isTime(worker.hostCopies.delayedNs) &&
           isTime(worker.hostCopies.returnedBytes);
}

bool areAtLeastZero(std::initializer_list<int64_t> values) {
    return std::ranges::all_of(values, [](int64_t each) { return each >= 0; });
}

bool isUseGood(const WorkerSummary& worker) {
    const ComputeUse& use = worker.use;
    const auto steps = static_cast<int64_t>(worker.steps.size());
    return areAtLeastZero({use.sheetPerSecond, use.measuredPerSecond, use.activePerSecond, use.readings, use.readingNs,
                           use.knownNs, use.readSteps, use.countedSteps, use.countedNs, use.modelPerStep,
                           use.repeatedPerStep, use.kernelNs, use.knownKernelNs}) &&
           use.readSteps <= steps && use.countedSteps <= steps && use.knownKernelNs <= use.kernelNs &&
           (use.readings > 0) == (use.knownNs > 0) && worker.shaped.size() <= maxShapedWorks &&
           std::ranges::all_of(worker.shaped, [](const ShapedWork& work) {
               return areAtLeastZero({work.count, work.kernelNs, work.flops, work.bytes, work.roofNs});
           });
}

bool areKernelGroupsGood(const WorkerSummary& worker) {
    /// Programs have some dozens.
    constexpr size_t maxGroups = 4096;
    int64_t leftNs = worker.totalParts()[StepPart::Compute];
    for (const KernelGroup& each : worker.kernels) {
        if (!areAtLeastZero({each.count, each.sequences, each.exposedNs}) || each.sequences > each.count ||
            each.exposedNs > leftNs)
            return false;
        leftNs -= each.exposedNs;
    }
    return worker.kernels.size() <= maxGroups && worker.usedMemoryBytes >= 0 && worker.memoryBytes >= 0 &&
           worker.singleRate >= 0 && worker.tensorFloatRate >= 0;
}

// More than any real run has; a hostile file could ask for any amount of memory.
constexpr size_t maxWorkers = 4096;
constexpr size_t maxSteps = 4'000'000;
constexpr size_t maxParts = maxSteps * stepPartCount;
constexpr size_t maxListed = 1'000'000;
constexpr size_t maxFacts = 10'000;

auto membersOf(Of<WorkerSummary> auto& s) {
    constexpr const auto& t = tables::storedWorkers;
    return std::tuple(
        stored(t.pid, s.pid), stored(t.rank, s.rank), stored(t.processName, s.processName), stored(t.gpuId, s.gpuId),
        stored(t.gpuName, s.gpuName), stored(t.endedAbnormally, s.endedAbnormally), stored(t.foundSteps, s.foundSteps),
        stored(t.warmUpSteps, s.warmUpSteps), stored(t.isLastLeftOut, s.isLastLeftOut), stored(t.workNs, s.workNs),
        stored(t.pauses, s.pauses.count), stored(t.pauseNs, s.pauses.ns), stored(t.pauseIdleNs, s.pauses.idleNs),
        stored(t.longestPauseStartNs, s.pauses.longestStartNs), stored(t.longestPauseNs, s.pauses.longestNs),
        stored(t.highestSmClockHz, s.highestSmClockHz), stored(t.heldBackNs, s.heldBackNs),
        stored(t.loaderThreads, s.loaders.threads), stored(t.loaderKnownNs, s.loaders.knownNs),
        stored(t.loaderRanNs, s.loaders.ranNs), stored(t.loaderNoCoreNs, s.loaders.noCoreNs),
        stored(t.loaderInputNs, s.loaders.inputNs), stored(t.launches, s.launches.count),
        stored(t.launchNs, s.launches.medianNs), stored(t.launchPlace, s.launches.place.text),
        stored(t.launchLine, s.launches.place.line), stored(t.launchesThere, s.launches.placeCount),
        stored(t.allocations, s.allocations.allocations), stored(t.frees, s.allocations.frees),
        stored(t.freedAt, s.allocations.freedAt.text), stored(t.freeLine, s.allocations.freedAt.line),
        stored(t.freeCaller, s.allocations.freedAt.caller), stored(t.recompiled, s.recompiled),
        stored(t.compilations, s.compilations), stored(t.hasTensorFloat, s.hasTensorFloat), stored(t.drains, s.drains),
        stored(t.orderedStreams, s.streams.streams), stored(t.defaultOperations, s.streams.operations),
        stored(t.delayedCopyNs, s.hostCopies.delayedNs), stored(t.awaitedStream, s.hostCopies.awaitedStream),
        stored(t.copiesWaitAt, s.hostCopies.waitsAt), stored(t.returnedBytes, s.hostCopies.returnedBytes),
        stored(t.leaveAt, s.hostCopies.leaveAt), stored(t.returnAt, s.hostCopies.returnAt),
        stored(t.usedMemoryBytes, s.usedMemoryBytes), stored(t.memoryBytes, s.memoryBytes),
        stored(t.singleRate, s.singleRate), stored(t.tensorFloatRate, s.tensorFloatRate), stored(t.restNs, s.rest.ns));
}

auto membersOf(Of<IdleCause> auto& s) {
    constexpr const auto& t = tables::storedCauses;
    auto& activity = s.activity;
    return std::tuple(
        stored(t.kind, s.kind, lastCauseKind), stored(t.api, s.api, GpuApi::Hip), stored(t.call, s.call),
        stored(t.copy, s.copy), stored(t.isPageable, s.isPageable), stored(t.thread, s.thread.role, ThreadRole::Other),
        stored(t.threadName, s.thread.name), stored(t.file, activity.frame.file), stored(t.line, activity.frame.line),
        stored(t.function, activity.frame.function), stored(t.work, activity.work, ThreadWork::Importing),
        stored(t.observation, activity.observation, Observation::WithoutCore), stored(t.state, activity.state),
        stored(t.holder, activity.holder.role, ThreadRole::Other), stored(t.holderName, activity.holder.name),
        stored(t.holderFile, activity.holderFrame.file), stored(t.holderLine, activity.holderFrame.line),
        stored(t.holderFunction, activity.holderFrame.function));
}

auto membersOf(Of<ClockState> auto& s) {
    constexpr const auto& t = tables::storedGpuClocks;
    return std::tuple(stored(t.reasons, s.reasons), stored(t.ns, s.ns), stored(t.smClockHz, s.smClockHz),
                      stored(t.longestStartNs, s.longestStartNs), stored(t.longestNs, s.longestNs));
}

auto membersOf(Of<StepSummary> auto& s) {
    constexpr const auto& t = tables::storedSteps;
    return std::tuple(stored(t.number, s.number), stored(t.name, s.name), stored(t.startNs, s.startNs),
                      stored(t.wallNs, s.wallNs), stored(t.onCpuNs, s.onCpuNs),
                      stored(t.activePerSecond, s.activePerSecond));
}

/// Without the cause of idle time.
auto membersOf(Of<Contributor> auto& s) {
    constexpr const auto& t = tables::storedContributors;
    return std::tuple(stored(t.part, s.part, StepPart::OtherIdle), stored(t.kind, s.kind, ContributorKind::Others),
                      stored(t.trait, s.trait, ContributorTrait::Unknown), stored(t.name, s.name.work),
                      stored(t.path, s.path), stored(t.count, s.count), stored(t.exposedNs, s.exposedNs),
                      stored(t.totalNs, s.totalNs), stored(t.bytes, s.bytes), stored(t.busBytes, s.busBytes),
                      stored(t.firstPlace, s.order), stored(t.waitedNs, s.waitedNs), stored(t.workedNs, s.workedNs),
                      stored(t.longCount, s.longCount), stored(t.gilNs, s.gilNs), stored(t.launched, s.launched.text),
                      stored(t.launchedLine, s.launched.line), stored(t.caller, s.launched.caller),
                      stored(t.isOfCaller, s.isOfCaller));
}

/// Without the cause of idle time.
auto membersOf(Of<OutlierStep> auto& s) {
    constexpr const auto& t = tables::storedOutliers;
    return std::tuple(stored(t.number, s.number), stored(t.name, s.name), stored(t.startNs, s.startNs),
                      stored(t.wallNs, s.wallNs), stored(t.excessNs, s.excessNs),
                      stored(t.part, s.part, StepPart::OtherIdle), stored(t.partExcessNs, s.partExcessNs),
                      stored(t.contributor, s.contributor.work), stored(t.path, s.path));
}

auto membersOf(Of<StepForecast> auto& s) {
    constexpr const auto& t = tables::storedForecasts;
    return std::tuple(stored(t.subject, s.subject, causality::Subject::Rank), stored(t.savedNs, s.savedNs),
                      stored(t.marginNs, s.marginNs));
}

auto membersOf(Of<PathTime> auto& s) {
    constexpr const auto& t = tables::storedPaths;
    return std::tuple(stored(t.part, s.part, PathPart::WorkDelay), stored(t.rank, s.rank), stored(t.pid, s.pid),
                      stored(t.name, s.name), stored(t.line, s.line), stored(t.ns, s.ns), stored(t.count, s.count));
}

auto membersOf(Of<Distinction> auto& s) {
    constexpr const auto& t = tables::storedDistinctions;
    return std::tuple(stored(t.of, s.of, DistinctionOf::Rank), stored(t.kind, s.kind, DistinctionKind::Loader),
                      stored(t.name, s.name), stored(t.steps, s.steps), stored(t.ns, s.ns), stored(t.count, s.count),
                      stored(t.others, s.others));
}

auto membersOf(Of<KernelGroup> auto& s) {
    constexpr const auto& t = tables::storedKernelGroups;
    return std::tuple(
        stored(t.family, s.family, KernelFamily::Other), stored(t.precision, s.precision, KernelPrecision::Int8),
        stored(t.trait, s.trait, KernelTrait::Triangular), stored(t.purpose, s.purpose, LaunchPurpose::Tuning),
        stored(t.sequence, s.sequence, KernelSequence::Attention), stored(t.isSmallGrid, s.isSmallGrid),
        stored(t.count, s.count), stored(t.exposedNs, s.exposedNs), stored(t.sequences, s.sequences),
        stored(t.savedNs, s.savedNs), stored(t.name, s.name), stored(t.launched, s.launched),
        stored(t.written, s.written));
}

auto membersOf(Of<CodeLine> auto& s) {
    constexpr const auto& t = tables::storedCode;
    return std::tuple(stored(t.place, s.place), stored(t.line, s.line), stored(t.code, s.code));
}

auto membersOf(Of<ComputeUse> auto& s) {
    constexpr const auto& t = tables::storedUses;
    return std::tuple(stored(t.precision, s.precision), stored(t.sheetPerSecond, s.sheetPerSecond),
                      stored(t.measuredPerSecond, s.measuredPerSecond), stored(t.sampler, s.sampler),
                      stored(t.activePerSecond, s.activePerSecond), stored(t.readings, s.readings),
                      stored(t.readingNs, s.readingNs), stored(t.knownNs, s.knownNs), stored(t.readSteps, s.readSteps),
                      stored(t.isShared, s.isShared), stored(t.countedSteps, s.countedSteps),
                      stored(t.countedNs, s.countedNs), stored(t.modelPerStep, s.modelPerStep),
                      stored(t.repeatedPerStep, s.repeatedPerStep), stored(t.kernelNs, s.kernelNs),
                      stored(t.knownKernelNs, s.knownKernelNs));
}

auto membersOf(Of<ShapedWork> auto& s) {
    constexpr const auto& t = tables::storedShapes;
    return std::tuple(stored(t.kind, s.kind, OperatorKind::Elementwise), stored(t.operation, s.operation),
                      stored(t.shape, s.shape), stored(t.precision, s.precision), stored(t.place, s.place),
                      stored(t.kernel, s.kernel), stored(t.isRecomputed, s.isRecomputed), stored(t.count, s.count),
                      stored(t.kernelNs, s.kernelNs), stored(t.flops, s.flops), stored(t.bytes, s.bytes),
                      stored(t.roofNs, s.roofNs), stored(t.isMemoryBound, s.isMemoryBound),
                      stored(t.isMeasured, s.isMeasured));
}

/// Calls `visit(table, list)` for each list of a worker whose items are rows without further cells, until one fails.
bool forEachStoredList(auto&& visit) {
    return visit(tables::storedGpuClocks, &WorkerSummary::clocks) &&
           visit(tables::storedSteps, &WorkerSummary::steps) &&
           visit(tables::storedForecasts, &WorkerSummary::forecasts) &&
           visit(tables::storedPaths, &WorkerSummary::path) &&
           visit(tables::storedDistinctions, &WorkerSummary::distinctions) &&
           visit(tables::storedKernelGroups, &WorkerSummary::kernels) &&
           visit(tables::storedCode, &WorkerSummary::code) && visit(tables::storedShapes, &WorkerSummary::shaped);
}

/// A summary, and the causes that its rows refer to by number.
struct StoredRun : RunSummary {
    std::vector<IdleCause> causes;
};

/// Facts other than those of the run.
struct Header {
    int64_t version = 0;
    int64_t fingerprint = 0;
};

/// A unit in one cell: "nvtx_range 240 layer #".
std::string textOf(const StepUnit& unit) {
    return fmt::format("{} {} {}", identifier(unit.source), unit.count, unit.pattern);
}

std::optional<StepUnit> unitFrom(std::string_view text) {
    const size_t count = text.find(' ');
    const size_t pattern = count == std::string_view::npos ? count : text.find(' ', count + 1);
    if (pattern == std::string_view::npos) return std::nullopt;
    const auto source = fromIdentifier(text.substr(0, count), StepSource::Chosen);
    const auto number = parseNumber<int64_t>(text.substr(count + 1, pattern - count - 1));
    if (!source || !number || *number < 0 || *number > int64_t{noIndex}) return std::nullopt;
    return StepUnit{*source, std::string(text.substr(pattern + 1)), *number};
}

/// Reads the value of a row into a member of the summary.
class FactReader {
  public:
    explicit FactReader(StoredRows<tables::StoredFacts>& rows) : rows_(rows) {}

    void take(auto& member) { rows_.read(value, member); }
    void take(std::vector<std::string>& texts) { texts.push_back(rows_.text(value)); }
    void take(std::vector<StepUnit>& units) {
        auto unit = unitFrom(rows_.text(value));
        if (!unit) return rows_.reject();
        units.push_back(std::move(*unit));
    }
    void take(StepKind& kind) { kind = rows_.identified(value, StepKind::Request); }
    void take(ProducerKind& kind) { kind = rows_.identified(value, ProducerKind::NcclInspector); }
    void take(StepSource& source) { source = rows_.identified(value, StepSource::Chosen); }
    void take(LinkEvidence& evidence) { evidence = rows_.identified(value, LinkEvidence::Collectives); }
    void take(NvlinkVerdict::Use& use) { use = rows_.identified(value, NvlinkVerdict::Use::Used); }

  private:
    static constexpr const auto& value = tables::storedFacts.value;

    StoredRows<tables::StoredFacts>& rows_;
};

bool readFacts(const Database& database, StoredRun& summary) {
    Header header;
    StoredRows rows(database, tables::storedFacts, maxFacts);
    FactReader reader(rows);
    while (rows.next()) {
        const std::string name = rows.text(tables::storedFacts.name);
        if (name == "version") reader.take(header.version);
        if (name == "fingerprint") reader.take(header.fingerprint);
        forEachStoredFact<RunSummary>(summary, [&](std::string_view each, auto& member) {
            if (each == name) reader.take(member);
        });
    }
    summary.facts.title = std::filesystem::path(database.path()).filename().string();
    return rows.isGood() && header.version == storedVersion && header.fingerprint == traceFingerprint(database);
}

bool readWarnings(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedHealth;
    StoredRows rows(database, t, maxFacts);
    while (rows.next()) {
        HealthNote note{severityFrom(rows.number(t.severity)), healthCodeFrom(rows.text(t.code)),
                        rows.text(t.sentence)};
        note.globalPid = rows.numberOrNull(t.globalPid);
        note.count = rows.numberOrNull(t.count);
        if (note.code == HealthCode::Unknown) note.unknownCode = rows.text(t.code);
        summary.facts.healthWarnings.push_back(std::move(note));
    }
    return rows.isGood();
}

bool readWorkers(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedWorkers;
    StoredRows rows(database, t, maxWorkers);
    while (rows.next()) {
        if (rows.number(t.worker) != static_cast<int64_t>(summary.workers.size())) return false;
        WorkerSummary worker;
        rows.read(membersOf(worker));
        const auto noCoreThreads = rows.numberOrNull(t.noCoreThreads);
        const auto noCoreNs = rows.numberOrNull(t.noCoreNs);
        // No run has one without the other.
        if (noCoreNs || noCoreThreads) worker.coreWaits = CoreWaits{noCoreThreads.value_or(-1), noCoreNs.value_or(-1)};
        if (const IdleCause* most = rows.itemOrNull(summary.causes, t.restCause)) worker.rest.most = *most;
        summary.workers.push_back(std::move(worker));
    }
    return rows.isGood();
}

bool readCauses(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedCauses;
    StoredRows rows(database, t, maxListed);
    while (rows.next()) {
        if (rows.number(t.cause) != static_cast<int64_t>(summary.causes.size())) return false;
        IdleCause each;
        rows.read(membersOf(each));
        if (each.isObserved() != (each.activity.state != ThreadState::Unknown)) return false;
        summary.causes.push_back(std::move(each));
    }
    return rows.isGood();
}

/// Calls `read(rows, worker)` for each row of a table of workers; returns false if the table is invalid.
bool readOfWorkers(const Database& database, const auto& table, size_t maxRows, StoredRun& summary, auto read) {
    StoredRows rows(database, table, maxRows);
    while (rows.next())
        if (WorkerSummary* worker = rows.itemOf(summary.workers, table.worker)) read(rows, *worker);
    return rows.isGood();
}

bool readLists(const Database& database, StoredRun& summary) {
    return forEachStoredList([&](const auto& t, auto list) {
        return readOfWorkers(database, t, maxSteps, summary, [list](auto& rows, WorkerSummary& worker) {
            rows.read(membersOf((worker.*list).emplace_back()));
        });
    });
}

/// A duplicate part makes the sums wrong, which is detected.
bool readParts(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedParts;
    return readOfWorkers(database, t, maxParts, summary, [&](auto& rows, WorkerSummary& worker) {
        if (StepSummary* step = rows.itemOf(worker.steps, t.step)) step->parts[rows.part(t.part)] = rows.number(t.ns);
    });
}

bool readContributors(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedContributors;
    return readOfWorkers(database, t, maxListed, summary, [&](auto& rows, WorkerSummary& worker) {
        Contributor each;
        rows.read(membersOf(each));
        rows.readCause(summary.causes, t.cause, each.name);
        if (rows.text(t.phase).empty()) return worker.contributors.push_back(std::move(each));
        const RunPhase phase = rows.identified(t.phase, RunPhase::End);
        if (worker.phases.empty() || worker.phases.back().phase != phase) worker.phases.push_back({phase, {}});
        worker.phases.back().contributors.push_back(std::move(each));
    });
}

bool readOutliers(const Database& database, StoredRun& summary) {
    constexpr const auto& t = tables::storedOutliers;
    return readOfWorkers(database, t, maxListed, summary, [&](auto& rows, WorkerSummary& worker) {
        OutlierStep& step = worker.outliers.emplace_back();
        rows.read(membersOf(step));
        rows.readCause(summary.causes, t.cause, step.contributor);
    });
}

bool readUses(const Database& database, StoredRun& summary) {
    return readOfWorkers(database, tables::storedUses, maxWorkers, summary,
                         [](auto& rows, WorkerSummary& worker) { rows.read(membersOf(worker.use)); });
}

/// Reads the summary of a file, which stays open.
std::optional<RunSummary> readTrusted(const Database& database) {
    if (database.sealState() != SealState::Whole) return std::nullopt;
    std::optional<RunSummary> summary = readRunSummary(database);
    if (database.trouble() || database.doubt()) return std::nullopt;
    return summary;
}

/// Tables from before the family had one version.
constexpr std::array<const char*, 5> formerTables{"LANESCOPE_SUMMARY", "LANESCOPE_SUMMARY_WORKERS",
                                                  "LANESCOPE_SUMMARY_STEPS", "LANESCOPE_SUMMARY_CONTRIBUTORS",
                                                  "LANESCOPE_SUMMARY_OUTLIERS"};

Result<void> rebuildTables(Database& database) {
    std::string sql;
    for (const char* table : formerTables) sql += fmt::format("DROP TABLE IF EXISTS {};", table);
    for (const tables::Table* table : tables::storedTables())
        sql += fmt::format("DROP TABLE IF EXISTS {};\n{}\n", table->tableName(), createSql(*table));
    return database.execute(sql.c_str());
}

class FactWriter {
  public:
    FactWriter(const Database& database, FirstError& error) : rows_(database, tables::storedFacts, error) {}

    template <class T>
    void operator()(std::string_view name, const T& value) {
        if constexpr (std::is_enum_v<T>)
            insert(name, identifier(value));
        else if constexpr (std::is_same_v<T, uint64_t>)
            insert(name, static_cast<int64_t>(value));
        else
            insert(name, value);
    }
    void operator()(std::string_view name, const std::optional<int64_t>& value) {
        if (value) insert(name, *value);
    }
    void operator()(std::string_view name, const std::vector<StepUnit>& units) {
        for (const StepUnit& unit : units) insert(name, textOf(unit));
    }
    void operator()(std::string_view name, const std::vector<std::string>& texts) {
        for (const std::string& text : texts) insert(name, text);
    }

  private:
    void insert(std::string_view name, const auto& value) {
        rows_.insert(tables::storedFacts.name = name, tables::storedFacts.value = value);
    }

    Inserter<tables::StoredFacts> rows_;
};

void writeFacts(const Database& database, const RunSummary& summary, FirstError& error) {
    FactWriter write(database, error);
    write("version", storedVersion);
    write("fingerprint", traceFingerprint(database));
    forEachStoredFact(summary, write);
}

void writeWarnings(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedHealth;
    Inserter rows(database, t, error);
    for (const HealthNote& note : summary.facts.healthWarnings)
        rows.insert(t.severity = static_cast<int64_t>(note.severity), t.code = codeOf(note),
                    t.globalPid = note.globalPid, t.count = note.count, t.sentence = note.sentence);
}

/// Causes and their numbers.
class CauseNumbers {
  public:
    /// Returns nullopt for work.
    std::optional<int64_t> of(const IdleCause& cause) {
        if (cause == IdleCause()) return std::nullopt;
        const auto [known, isNew] = numbers_.try_emplace(cause, static_cast<int64_t>(causes_.size()));
        if (isNew) causes_.push_back(&known->first);
        return known->second;
    }
    const std::vector<const IdleCause*>& all() const { return causes_; }

  private:
    std::map<IdleCause, int64_t> numbers_;
    std::vector<const IdleCause*> causes_;  ///< By number.
};

void writeCauses(const Database& database, const CauseNumbers& causes, FirstError& error) {
    constexpr const auto& t = tables::storedCauses;
    Inserter rows(database, t, error);
    int64_t number = 0;
    for (const IdleCause* each : causes.all()) insertRow(rows, membersOf(*each), t.cause = number++);
}

void writeWorkers(const Database& database, const RunSummary& summary, CauseNumbers& causes, FirstError& error) {
    constexpr const auto& t = tables::storedWorkers;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers)
        insertRow(rows, membersOf(worker), t.worker = index++,
                  t.noCoreThreads = worker.coreWaits ? std::optional(worker.coreWaits->threads) : std::nullopt,
                  t.noCoreNs = worker.coreWaits ? std::optional(worker.coreWaits->ns) : std::nullopt,
                  t.restCause = causes.of(worker.rest.most));
}

void writeLists(const Database& database, const RunSummary& summary, FirstError& error) {
    forEachStoredList([&](const auto& t, auto list) {
        Inserter rows(database, t, error);
        for (size_t worker = 0; worker < summary.workers.size(); ++worker)
            for (const auto& each : summary.workers[worker].*list)
                insertRow(rows, membersOf(each), t.worker = static_cast<int64_t>(worker));
        return true;
    });
}

void writeParts(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedParts;
    Inserter rows(database, t, error);
    for (size_t worker = 0; worker < summary.workers.size(); ++worker) {
        const std::vector<StepSummary>& steps = summary.workers[worker].steps;
        for (size_t step = 0; step < steps.size(); ++step)
            for (size_t part = 0; part < stepPartCount; ++part)
                if (const int64_t ns = steps[step].parts.ns[part]; ns != 0)
                    rows.insert(t.worker = static_cast<int64_t>(worker), t.step = static_cast<int64_t>(step),
                                t.part = identifier(static_cast<StepPart>(part)), t.ns = ns);
    }
}

void writeUses(const Database& database, const RunSummary& summary, FirstError& error) {
    constexpr const auto& t = tables::storedUses;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        if (worker.use != ComputeUse())
            insertRow(rows, membersOf(worker.use), t.worker = index, t.mfu = worker.use.mfu());
        ++index;
    }
}

void writeContributors(const Database& database, const RunSummary& summary, CauseNumbers& causes, FirstError& error) {
    constexpr const auto& t = tables::storedContributors;
    Inserter rows(database, t, error);
    int64_t index = 0;
    const auto add = [&](const Contributor& each, std::string_view phase) {
        insertRow(rows, membersOf(each), t.worker = index, t.cause = causes.of(each.name.idle), t.phase = phase);
    };
    for (const WorkerSummary& worker : summary.workers) {
        for (const Contributor& each : worker.contributors) add(each, {});
        for (const PhaseSummary& phase : worker.phases)
            for (const Contributor& each : phase.contributors) add(each, identifier(phase.phase));
        ++index;
    }
}

void writeOutliers(const Database& database, const RunSummary& summary, CauseNumbers& causes, FirstError& error) {
    constexpr const auto& t = tables::storedOutliers;
    Inserter rows(database, t, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : summary.workers) {
        for (const OutlierStep& step : worker.outliers)
            insertRow(rows, membersOf(step), t.worker = index, t.cause = causes.of(step.contributor.idle));
        ++index;
    }
}

Result<void> writeTables(Database& database, const RunSummary& summary) {
    if (auto done = rebuildTables(database); !done) return done;
    FirstError error;
    for (const auto write : {&writeFacts, &writeWarnings, &writeLists, &writeParts, &writeUses})
        write(database, summary, error);
    CauseNumbers causes;
    for (const auto write : {&writeWorkers, &writeContributors, &writeOutliers})
        write(database, summary, causes, error);
    writeCauses(database, causes, error);
    if (error) return fail(*error);
    return {};
}

}  // namespace

bool isConsistent(const RunSummary& summary) {
    const NvlinkTraffic& nvlink = summary.nvlink;
    if (nvlink.bytesPerStep.value_or(0) < 0 || nvlink.bestBytesPerSecond < 0 || summary.facts.cpuLimitPercent < 0 ||
        summary.rangesPerStep < 1)
        return false;
    return std::ranges::all_of(summary.workers, [](const WorkerSummary& worker) {
        return areStepsGood(worker) && areContributorsGood(worker) && areOutliersGood(worker) &&
               areForecastsGood(worker) && isPathGood(worker) && arePhasesGood(worker) && areDistinctionsGood(worker) &&
               areConditionsGood(worker) && isUseGood(worker) && areKernelGroupsGood(worker);
    });
}

std::optional<RunSummary> readRunSummary(const Database& database) {
    // Views are not tables.
    for (const tables::Table* table : tables::storedTables())
        if (!database.hasTable(table->tableName())) return std::nullopt;
    StoredRun summary;
    for (const auto read : {&readFacts, &readWarnings, &readCauses, &readWorkers, &readLists, &readParts,
                            &readContributors, &readOutliers, &readUses})
        if (!read(database, summary)) return std::nullopt;
    if (!isConsistent(summary)) return std::nullopt;
    return RunSummary(std::move(summary));
}

std::optional<RunSummary> readRunSummary(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    return database ? readTrusted(*database) : std::nullopt;
}

std::optional<RunSummary> readRunSummaryChecked(const std::filesystem::path& path) {
    const Result<Database> database = Database::openReadOnly(path);
    std::optional<RunSummary> summary = database ? readTrusted(*database) : std::nullopt;
    if (!summary) return std::nullopt;
    database->readEveryPage();
    if (database->trouble() || database->sealState() != SealState::Whole) return std::nullopt;
    for (std::optional<FileDoubt> doubt : {database->doubt(), database->ignoredFiles()}) {
        if (!doubt) continue;
        auto& warnings = summary->facts.healthWarnings;
        const auto place =
            std::ranges::find_if(warnings, [&](const HealthNote& each) { return each.severity < doubt->severity; });
        warnings.insert(place, {doubt->severity, doubt->code, std::move(doubt->sentence)});
    }
    return summary;
}

Result<void> writeRunSummary(Database& database, const RunSummary& summary) {
    if (auto done = database.execute("BEGIN"); !done) return done;
    if (auto done = writeTables(database, summary); !done) {
        // The reason of the failed write is the better error.
        static_cast<void>(database.execute("ROLLBACK"));
        return done;
    }
    return database.execute("COMMIT");
}

}  // namespace lanescope::analysis
