// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "model/analysis/GpuWork.h"
#include "model/analysis/ThreadActivities.h"
#include "model/analysis/WorkerTimeline.h"
#include "model/analysis/groupKernels.h"
#include "model/analysis/hostCopies.h"
#include "model/analysis/replaySteps.h"
#include "model/analysis/rooflineRows.h"
#include "model/analysis/runConditions.h"
#include "model/analysis/stepRanges.h"
#include "model/format/GlobalId.h"
#include "model/numbers/Statistics.h"
#include "model/roofline/ShapedCalls.h"
#include "model/roofline/roofs.h"
#include "model/text/formatValue.h"
#include "model/trace/WorkRows.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/processes.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

/// Data behind the summaries of workers, except timelines, computed once for all. Immutable; refers to the trace.
struct SummarySources {
    /// O(n log n) in threads and counters, and the states of threads.
    explicit SummarySources(const Trace& trace);

    const std::vector<uint32_t> places;         ///< By stack: `ownPlaces`.
    const std::vector<LaunchPurpose> purposes;  ///< By stack.
    const RowsByOwner threads, allocations;     ///< By process.
    const LoaderThreads loaders;
    const MachineCounters counters;
    const ShapedCalls shaped;
    const std::set<uint32_t> sharedGpus;  ///< `sharedGpus`.
};

namespace {

constexpr double fenceFactor = 3;  ///< Tukey's outer fence, in interquartile ranges.
constexpr double minExcessShare = 0.03;

void countWait(const GpuWork& work, int64_t order, Contributor& waiting) {
    if (waiting.count == 0) waiting.order = order;
    ++waiting.count;
    waiting.totalNs = saturatingSum(waiting.totalNs, work.movingFromNs - work.startNs);
}

/// Counts the work launched in the steps; its first position in a step is its order.
void countWork(const RunContext& run, const WorkList& all, const WorkerSteps& steps,
               std::vector<Contributor>& contributors, WorkPlaces& places) {
    std::vector<bool> isPlaced(contributors.size());
    std::vector<int64_t> seen(steps.steps.size());
    for (WorkList::Reader reader(all); !reader.isAtEnd(); reader.next()) {
        const GpuWork& work = *reader;
        const uint32_t step = steps.stepOf(work.startNs, launchedNs(run, work));
        if (step == noIndex) continue;
        const int64_t place = seen[step]++;
        Contributor& contributor = contributors[work.contributor];
        ++contributor.count;
        places.add(work);
        contributor.totalNs = saturatingSum(contributor.totalNs, work.endNs - work.movingFromNs);
        contributor.bytes = saturatingSum(contributor.bytes, work.bytes);
        contributor.busBytes = saturatingSum(contributor.busBytes, work.busBytes);
        if (!isPlaced[work.contributor]) contributor.order = place;
        isPlaced[work.contributor] = true;
        if (work.movingFromNs > work.startNs) countWait(work, contributor.order, contributors[work.waiting]);
    }
    places.setLines(contributors);
}

bool isHeavier(const Contributor& a, const Contributor& b) {
    if (a.part != b.part) return a.part < b.part;
    if (a.exposedNs != b.exposedNs) return a.exposedNs > b.exposedNs;
    if (a.totalNs != b.totalNs) return a.totalNs > b.totalNs;
    return std::pair(a.name.text(), a.path) < std::pair(b.name.text(), b.path);
}

Contributor otherContributors(StepPart part) {
    Contributor others{.part = part, .kind = ContributorKind::Others};
    others.name = "others";
    return others;
}

/// Returns the contributors sorted, without empty ones, the smallest of each part summed into one.
std::vector<Contributor> largestContributors(std::vector<Contributor> all) {
    std::erase_if(all, [](const Contributor& each) { return each.exposedNs == 0 && each.count == 0; });
    std::ranges::sort(all, isHeavier);
    std::vector<Contributor> kept;
    size_t ofPart = 0;
    for (Contributor& each : all) {
        const bool isSamePart = !kept.empty() && kept.back().part == each.part;
        ofPart = isSamePart ? ofPart + 1 : 1;
        if (ofPart <= maxContributors) {
            kept.push_back(std::move(each));
            continue;
        }
        if (kept.back().kind != ContributorKind::Others) kept.push_back(otherContributors(each.part));
        kept.back().add(each);
    }
    return kept;
}

/// Returns the step time beyond which a step is an outlier.
double outlierLimit(std::vector<int64_t> wallNs) {
    const double medianNs = medianOf(wallNs);
    const double firstNs = quantileOf(wallNs, 0.25);
    const double thirdNs = quantileOf(wallNs, 0.75);
    return std::max(thirdNs + fenceFactor * (thirdNs - firstNs), medianNs * (1 + minExcessShare));
}

std::vector<size_t> outlierSteps(const WorkerSummary& worker) {
    std::vector<size_t> found;
    if (worker.steps.size() < minStepsForOutliers) return found;
    const double limitNs = outlierLimit(worker.wallTimes());
    for (size_t index = 0; index < worker.steps.size(); ++index)
        if (static_cast<double>(worker.steps[index].wallNs) > limitNs) found.push_back(index);
    std::ranges::stable_sort(found, std::ranges::greater(), [&](size_t each) { return worker.steps[each].wallNs; });
    found.resize(std::min(found.size(), maxOutliers));
    return found;
}

/// The median of a part over all steps.
int64_t medianOfPart(const WorkerSummary& worker, StepPart part) {
    std::vector<int64_t> values;
    for (const StepSummary& step : worker.steps) values.push_back(step.parts[part]);
    return static_cast<int64_t>(medianOf(values));
}

OutlierStep describe(const WorkerSummary& worker, const StepSummary& step) {
    OutlierStep outlier{.number = step.number, .name = step.name, .startNs = step.startNs, .wallNs = step.wallNs};
    std::vector<int64_t> wallNs = worker.wallTimes();
    outlier.excessNs = step.wallNs - static_cast<int64_t>(medianOf(wallNs));
    for (const StepPart part : allStepParts) {
        const int64_t excessNs = step.parts[part] - medianOfPart(worker, part);
        if (excessNs <= outlier.partExcessNs) continue;
        outlier.part = part;
        outlier.partExcessNs = excessNs;
    }
    return outlier;
}

/// Sets the contributor of the grown part with the largest excess over its mean in all steps.
void blame(OutlierStep& outlier, const std::map<ContributorTable::Id, int64_t>& spent,
           const std::vector<Contributor>& contributors, size_t stepCount) {
    int64_t largestNs = 0;
    for (const auto& [id, ns] : spent) {
        const Contributor& contributor = contributors[id];
        if (contributor.part != outlier.part) continue;
        // The mean of the other steps: in a short run this one would raise its own mean.
        const int64_t othersNs =
            (contributor.exposedNs - ns) / std::max<int64_t>(1, static_cast<int64_t>(stepCount) - 1);
        if (ns - othersNs <= largestNs) continue;
        largestNs = ns - othersNs;
        outlier.contributor = contributor.name;
        outlier.path = contributor.path;
    }
}

void findOutliers(const WorkerTimeline& timeline, const std::vector<Contributor>& contributors, WorkerSummary& worker) {
    for (const size_t index : outlierSteps(worker)) {
        const StepSummary& step = worker.steps[index];
        OutlierStep outlier = describe(worker, step);
        std::map<ContributorTable::Id, int64_t> spent;
        timeline.split(
            {{step.startNs, step.startNs + step.wallNs}},
            [&](uint32_t, StepPart, int64_t ns, ContributorTable::Id contributor) { spent[contributor] += ns; });
        blame(outlier, spent, contributors, worker.steps.size());
        worker.outliers.push_back(std::move(outlier));
    }
}

/// Adds the phases of `run` outside of the steps.
void addPhases(const WorkerTimeline& timeline, const std::vector<TimeRange>& steps, TimeRange run,
               WorkerSummary& worker) {
    std::vector<TimeRange> windows;
    std::vector<RunPhase> phaseOf;
    const auto addWindow = [&](RunPhase phase, int64_t startNs, int64_t endNs) {
        if (startNs >= endNs) return;
        windows.push_back({startNs, endNs});
        phaseOf.push_back(phase);
    };
    addWindow(RunPhase::StartUp, run.startNs, steps.front().startNs);
    for (size_t step = 1; step < steps.size(); ++step)
        addWindow(RunPhase::Between, steps[step - 1].endNs, steps[step].startNs);
    addWindow(RunPhase::End, steps.back().endNs, run.endNs);
    std::map<std::pair<RunPhase, ContributorTable::Id>, Contributor> spent;
    timeline.split(windows, [&](uint32_t window, StepPart part, int64_t ns, ContributorTable::Id id) {
        Contributor& each = spent[{phaseOf[window], id}];
        each.part = part;
        each.exposedNs += ns;
        ++each.count;
    });
    // First launches, for example, come in any range.
    std::map<RunPhase, std::map<std::pair<ContributorKind, std::string>, Contributor>> byPhase;
    for (const auto& [key, sum] : spent) {
        const Contributor& known = timeline.contributors()[key.second];
        const auto [named, isNew] = byPhase[key.first].try_emplace({known.kind, known.name.text()}, known);
        Contributor& each = named->second;
        if (isNew) {
            each.exposedNs = each.count = 0;
            each.part = sum.part;
        }
        if (each.path != known.path) each.path.clear();
        each.exposedNs = saturatingSum(each.exposedNs, sum.exposedNs);
        each.totalNs = each.exposedNs;
        each.count += sum.count;
    }
    for (auto& [phase, byName] : byPhase) {
        std::vector<Contributor> all;
        for (auto& [name, each] : byName) all.push_back(std::move(each));
        std::ranges::stable_sort(all, std::ranges::greater(), &Contributor::exposedNs);
        PhaseSummary& made = worker.phases.emplace_back(PhaseSummary{phase, {}});
        Contributor others = otherContributors(StepPart::OtherIdle);
        for (Contributor& each : all) {
            if (made.contributors.size() < maxPhaseContributors)
                made.contributors.push_back(std::move(each));
            else
                others.add(each);
        }
        if (others.exposedNs > 0) made.contributors.push_back(std::move(others));
    }
}

/// Returns "memory.py:224 in empty_cache, called at train.py:34 in train" for a call with this stack.
CodePlace freePlace(const Trace& trace, uint32_t stack) {
    const uint32_t own = ownFrame(trace, stack);
    const std::string line = frameText(trace, stack);
    if (own == stack) return {line, line};
    const std::string caller = frameText(trace, own);
    return {fmt::format("{}, called at {}", line, caller), line, caller};
}

bool isFree(std::string_view call) {
    const std::vector<std::string> words = wordsOf(call);
    return std::ranges::find(words, "free") != words.end();
}

/// Counts the calls that allocate or free memory within the steps.
AllocationTimes allocationsIn(const Trace& trace, std::span<const uint32_t> calls,
                              const std::vector<TimeRange>& steps) {
    AllocationTimes result;
    std::map<uint32_t, int64_t> freesAt;  // by stack
    for (const uint32_t call : calls) {
        const int64_t startNs = trace.apiCalls.startNs[call];
        const auto after = std::ranges::upper_bound(steps, startNs, {}, &TimeRange::startNs);
        if (after == steps.begin() || std::prev(after)->endNs <= startNs) continue;
        const bool frees = isFree(trace.strings.at(trace.apiCalls.name[call]));
        ++(frees ? result.frees : result.allocations);
        const uint32_t stack = trace.apiCalls.stack[call];
        if (frees && stack < trace.stacks.size() && trace.apiCalls.isStackLent[call] == 0) ++freesAt[stack];
    }
    const auto most = std::ranges::max_element(freesAt, {}, [](const auto& each) { return each.second; });
    if (most != freesAt.end() && 2 * most->second >= result.frees) result.freedAt = freePlace(trace, most->first);
    return result;
}

/// Returns the precision of most products by the names of their kernels; empty without any.
std::string_view precisionOfKernels(std::span<const Contributor> contributors) {
    std::map<std::string_view, int64_t> sums;
    for (const Contributor& each : contributors)
        if (each.kind == ContributorKind::Kernel && each.part == StepPart::Compute)
            if (const std::string_view precision = kernelPrecision(each.name.work); !precision.empty())
                sums[precision] = saturatingSum(sums[precision], each.totalNs);
    const auto most = std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; });
    return most == sums.end() ? std::string_view() : most->first;
}

void addUse(const RunContext& run, const SummarySources& sources, const WorkerSteps& steps,
            std::span<const TimeRange> windows, std::span<const Contributor> contributors, WorkerSummary& worker) {
    UseQuery query{.process = steps.process, .gpu = steps.gpu, .steps = windows};
    query.stepOf = [&steps](int64_t startNs, int64_t launchedNs) { return steps.stepOf(startNs, launchedNs); };
    query.precision = precisionOfKernels(contributors);
    query.isShared = sources.sharedGpus.contains(steps.gpu);
    UseInSteps made = computeUse(run.trace, sources.shaped, query);
    worker.use = std::move(made.use);
    worker.shaped = std::move(made.shaped);
    for (size_t step = 0; step < worker.steps.size(); ++step)
        worker.steps[step].activePerSecond = made.activePerSecond[step];
}

/// Returns the calls of each process that allocate or free memory.
RowsByOwner allocationsByProcess(const Trace& trace) {
    std::vector<bool> isAllocation(trace.strings.size());
    std::vector<bool> isSeen(trace.strings.size());
    const auto isWanted = [&](uint32_t call) {
        const StringIndex name = trace.apiCalls.name[call];
        if (!isSeen[name]) isAllocation[name] = callClassOf(trace.strings.at(name)) == CallClass::Allocation;
        isSeen[name] = true;
        return static_cast<bool>(isAllocation[name]);
    };
    LargeVector<uint32_t> processes(trace.memory.get());
    for (const uint32_t thread : trace.apiCalls.thread) processes.push_back(trace.threads[thread].process);
    return {processes, trace.processes.size(), trace.memory.get(), {}, isWanted};
}

RowsByOwner threadsByProcess(const Trace& trace) {
    return {std::views::transform(trace.threads, &Thread::process),
            trace.processes.size(),
            trace.memory.get(),
            {},
            [](uint32_t) { return true; }};
}

/// The CPU runs ahead if the step's range takes less than this share of the step.
constexpr double aheadShare = 0.9;
/// The CPU does not run ahead if the GPU waits for launches for more than this share of the steps.
constexpr double maxLateShare = 0.10;
constexpr int minTensorFloatMajor = 8;  ///< Compute capability of Ampere.

/// Returns the best measured rate of products on a GPU; 0 if there is none.
int64_t measuredRate(const Trace& trace, uint32_t gpu, std::string_view precision) {
    const RoofRate rate = computeRoof(trace, gpu, precision);
    return rate.isMeasured ? static_cast<int64_t>(rate.perSecond) : 0;
}

void describeWorker(const Trace& trace, const WorkerSteps& steps, WorkerSummary& worker) {
    const Process& process = trace.processes[steps.process];
    worker.pid = process.pid;
    worker.rank = process.rank;
    worker.processName = process.name;
    worker.endedAbnormally = process.endedAbnormally;
    worker.gpuId = trace.gpus[steps.gpu].id;
    worker.gpuName = trace.gpus[steps.gpu].name;
    worker.singleRate = measuredRate(trace, steps.gpu, "fp32");
    worker.tensorFloatRate = measuredRate(trace, steps.gpu, "tf32");
    worker.memoryBytes = std::max<int64_t>(trace.gpus[steps.gpu].memoryBytes, 0);
    worker.hasTensorFloat =
        trace.gpus[steps.gpu].vendor == GpuVendor::Nvidia && trace.gpus[steps.gpu].computeMajor >= minTensorFloatMajor;
}

NvlinkTraffic nvlinkOf(const Trace& trace, const RunSteps& steps) {
    const NvlinkVerdict verdict = judgeNvlink(trace, steps);
    NvlinkTraffic traffic{verdict.use, verdict.evidence, std::nullopt, verdict.stepEvidence,
                          std::llround(verdict.bestGBps * 1e9)};
    if (verdict.bytesPerStep) traffic.bytesPerStep = std::llround(*verdict.bytesPerStep);
    return traffic;
}

void sortWorkers(std::vector<WorkerSummary>& workers) {
    std::ranges::stable_sort(workers, {}, [](const WorkerSummary& each) {
        return std::tuple(!each.rank.has_value(), each.rank.value_or(0), each.pid, each.gpuId);
    });
}

}  // namespace

SummarySources::SummarySources(const Trace& trace)
    : places(ownPlaces(trace)),
      purposes(launchPurposes(trace)),
      threads(threadsByProcess(trace)),
      allocations(allocationsByProcess(trace)),
      loaders(trace),
      counters(trace),
      shaped(shapedCalls(trace)),
      sharedGpus(sharedGpusOf(trace)) {}

/// Analyses the steps of one process on one of its GPUs: parts, contributors, outliers. The caller sets the identity of
/// the worker (`pid`, `rank` ...). O(n log n) in its work, and in the states of its launching threads.
WorkerSummary summarizeWorker(const RunContext& run, const SummarySources& sources, const WorkerSteps& steps) {
    WorkerSummary worker{
        .foundSteps = steps.foundCount, .warmUpSteps = steps.warmUpCount, .isLastLeftOut = steps.isLastLeftOut};
    std::vector<TimeRange> windows;
    for (const StepSpan& step : steps.steps) {
        StepSummary& summary = worker.steps.emplace_back();
        summary.number = step.number;
        summary.name = step.name;
        summary.startNs = step.range.startNs;
        summary.wallNs = step.range.durationNs();
        if (!step.onCpu.isEmpty()) summary.onCpuNs = step.onCpu.durationNs();
        windows.push_back(step.range);
    }
    const TimeRange events = run.trace.processes[steps.process].range;
    const bool hasPhases = run.stepSource != StepSource::WholeRun && run.stepSource != StepSource::Chosen;
    // Otherwise the time before the first work has no cause.
    const WorkerTimeline timeline(run, steps, hasPhases ? events.startNs : INT64_MAX);
    int64_t untilNs = INT64_MIN;
    if (!timeline.work().empty()) {
        for (WorkList::Reader work(timeline.work()); !work.isAtEnd(); work.next())
            untilNs = std::max(untilNs, work->endNs);
        worker.workNs = untilNs - timeline.work().front().startNs;
    }
    std::vector<Contributor> contributors = timeline.contributors();
    int64_t waitedUntilNs = INT64_MIN;
    timeline.splitInTime(windows, [&](const WorkerTimeline::Piece& piece) {
        const int64_t ns = piece.range.durationNs();
        worker.steps[piece.window].parts[piece.part] += ns;
        contributors[piece.contributor].exposedNs += ns;
        if (isIdle(piece.part)) ++contributors[piece.contributor].count;
        if (piece.part != StepPart::Synchronization) return;
        // A wait and the time after it, in several ranges, are one.
        if (piece.range.startNs != waitedUntilNs) ++worker.drains;
        waitedUntilNs = piece.range.endNs;
    });
    WorkPlaces places(run.trace, sources.places);
    countWork(run, timeline.work(), steps, contributors, places);
    addRanAndWaited(run, timeline, windows, contributors);
    for (Contributor& contributor : contributors)
        if (isIdle(contributor.part)) contributor.totalNs = contributor.exposedNs;
    findOutliers(timeline, contributors, worker);
    worker.pauses = pausesBetween(windows, timeline.work());
    if (run.stepKind == StepKind::Request) worker.rest = restBetween(run, windows, timeline.work());
    addConditions(sources.counters, steps.gpu, windows, worker);
    worker.coreWaits = coreWaits(run.trace, run.states, sources.threads.of(steps.process), windows);
    worker.loaders = loaderTimes(run.states, sources.loaders.of(steps.process), windows);
    addRecompilation(run.trace, steps.process, worker);
    worker.allocations = allocationsIn(run.trace, sources.allocations.of(steps.process), windows);
    if (hasPhases) addPhases(timeline, windows, {events.startNs, std::max(events.endNs, untilNs)}, worker);
    worker.launches = launchTimes(run.trace, windows, timeline.work(), places);
    addUse(run, sources, steps, windows, contributors, worker);
    worker.streams = streamOrder(run.trace, timeline.work(), windows);
    worker.hostCopies = hostCopies(run, timeline.work(), steps, places);
    worker.kernels = groupKernels(run, timeline.work(), steps, contributors, sources.purposes, places);
    worker.contributors = largestContributors(std::move(contributors));
    return worker;
}

std::vector<int64_t> shareOut(std::span<const int64_t> values, int64_t count, int64_t sum) {
    std::vector<int64_t> shares;
    for (const int64_t value : values) shares.push_back(count > 0 ? value / count : 0);
    if (count <= 0) return shares;
    int64_t left = sum - std::accumulate(shares.begin(), shares.end(), int64_t{0});
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t each) { return values[each] % count; });
    for (const size_t index : order) {
        if (left <= 0) break;
        ++shares[index];
        --left;
    }
    return shares;
}

MeanStep meanStep(const WorkerSummary& worker, int64_t quantumNs) {
    MeanStep mean;
    mean.exposedNs.resize(worker.contributors.size());
    const int64_t divisor = static_cast<int64_t>(worker.steps.size()) * quantumNs;
    if (divisor == 0) return mean;
    const auto share = [&](std::span<const int64_t> sums, int64_t ns) {
        std::vector<int64_t> shares = shareOut(sums, divisor, ns / quantumNs);
        for (int64_t& each : shares) each *= quantumNs;
        return shares;
    };
    const int64_t wallNs = worker.totalWallNs();
    mean.ns = (wallNs / divisor + (wallNs % divisor * 2 >= divisor ? 1 : 0)) * quantumNs;
    const std::vector<int64_t> parts = share(worker.totalParts().ns, mean.ns);
    std::copy(parts.begin(), parts.end(), mean.parts.ns.begin());
    for (size_t part = 0; part < stepPartCount; ++part) {
        std::vector<int64_t> sums;
        std::vector<size_t> places;
        for (size_t index = 0; index < worker.contributors.size(); ++index) {
            if (worker.contributors[index].part != static_cast<StepPart>(part)) continue;
            sums.push_back(worker.contributors[index].exposedNs);
            places.push_back(index);
        }
        const std::vector<int64_t> shares = share(sums, mean.parts.ns[part]);
        for (size_t index = 0; index < places.size(); ++index) mean.exposedNs[places[index]] = shares[index];
    }
    return mean;
}

std::string timelessSentence(const RunSummary& run) {
    for (const WorkerSummary& worker : run.workers) {
        const auto timeless = std::ranges::count(worker.steps, 0, &StepSummary::wallNs);
        if (2 * static_cast<size_t>(timeless) > worker.steps.size())
            return fmt::format("{} of {} steps of {} take no time: work seems to extend beyond the following steps.",
                               timeless, worker.steps.size(), worker.label());
    }
    return {};
}

std::string_view name(ContributorKind kind) {
    return identifier(kind);  // the identifiers are plain words
}

std::string_view identifier(ContributorKind kind) {
    return enumText(kind, {"kernel", "collective", "copy", "memset", "graph", "idle", "others"});
}

std::string_view identifier(RunPhase phase) { return enumText(phase, {"start_up", "between", "end"}); }

void Contributor::add(const Contributor& more) {
    for (int64_t Contributor::*amount : {&Contributor::count, &Contributor::exposedNs, &Contributor::totalNs,
                                         &Contributor::bytes, &Contributor::busBytes, &Contributor::waitedNs,
                                         &Contributor::workedNs, &Contributor::longCount, &Contributor::gilNs})
        this->*amount = saturatingSum(this->*amount, more.*amount);
}

int64_t PhaseSummary::ns() const {
    int64_t sumNs = 0;
    for (const Contributor& each : contributors) sumNs = saturatingSum(sumNs, each.exposedNs);
    return sumNs;
}

int64_t WorkerSummary::runNs() const {
    if (phases.empty()) return 0;
    int64_t sumNs = totalWallNs();
    for (const PhaseSummary& each : phases) sumNs = saturatingSum(sumNs, each.ns());
    return sumNs;
}

const PhaseSummary* WorkerSummary::phase(RunPhase phase) const {
    const auto found = std::ranges::find(phases, phase, &PhaseSummary::phase);
    return found == phases.end() ? nullptr : &*found;
}

std::string_view identifier(ContributorTrait trait) {
    return enumText(trait, {"none", "pageable", "allocation", "unknown"});
}

bool SummaryFacts::reportsAbnormalEnd() const {
    return std::ranges::any_of(healthWarnings,
                               [](const HealthNote& note) { return note.code == HealthCode::ProcessEndedAbnormally; });
}

const HealthNote* SummaryFacts::damage() const {
    const HealthNote* highestSeverity = nullptr;
    for (const HealthNote& note : healthWarnings)
        if (isCorruption(note.code) && (!highestSeverity || note.severity > highestSeverity->severity))
            highestSeverity = &note;
    return highestSeverity;
}

std::string WorkerSummary::label() const {
    return rank ? fmt::format("rank {}, GPU {}", *rank, gpuId) : fmt::format("PID {}, GPU {}", pid, gpuId);
}

StepParts WorkerSummary::totalParts() const {
    StepParts total;
    for (const StepSummary& step : steps) total += step.parts;
    return total;
}

std::vector<int64_t> WorkerSummary::wallTimes() const {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : steps) wallNs.push_back(step.wallNs);
    return wallNs;
}

int64_t WorkerSummary::totalWallNs() const {
    int64_t total = 0;
    for (const StepSummary& step : steps) total += step.wallNs;
    return total;
}

std::optional<double> WorkerSummary::mfuOf(const StepSummary& step) const {
    if (!step.activePerSecond || use.peakPerSecond() <= 0) return std::nullopt;
    return static_cast<double>(*step.activePerSecond) / static_cast<double>(use.peakPerSecond());
}

std::optional<double> WorkerSummary::coverage() const {
    if (workNs <= 0 || steps.empty()) return std::nullopt;
    // A step may begin a little before its work.
    return std::min(1.0, static_cast<double>(totalWallNs()) / static_cast<double>(workNs));
}

std::optional<int64_t> WorkerSummary::meanOnCpuNs() const {
    double sumNs = 0;
    int64_t count = 0;
    for (const StepSummary& step : steps) {
        sumNs += static_cast<double>(step.onCpuNs.value_or(0));
        count += step.onCpuNs ? 1 : 0;
    }
    if (count == 0) return std::nullopt;
    return static_cast<int64_t>(sumNs / static_cast<double>(count));
}

std::optional<int64_t> WorkerSummary::aheadNs() const {
    const std::optional<int64_t> onCpuNs = meanOnCpuNs();
    const double meanNs = static_cast<double>(totalWallNs()) / static_cast<double>(std::max<size_t>(steps.size(), 1));
    // Ranges around parts of a step are shorter than it, though the GPU waits for launches.
    const double launchNs = static_cast<double>(totalParts()[StepPart::LaunchBound]);
    const bool isLate = launchNs > maxLateShare * static_cast<double>(totalWallNs());
    return onCpuNs && !isLate && static_cast<double>(*onCpuNs) < aheadShare * meanNs ? onCpuNs : std::nullopt;
}

bool RunSummary::isEmpty() const {
    return std::ranges::none_of(workers, [](const WorkerSummary& worker) { return worker.totalWallNs() > 0; });
}

bool RunSummary::isPartlyReported(const WorkerSummary& worker) const {
    return std::ranges::any_of(facts.healthWarnings, [&](const HealthNote& note) {
        return note.code == HealthCode::OperationsMissing && note.globalPid &&
               processIdOf(*note.globalPid) == worker.pid;
    });
}

uint32_t RunSummary::criticalWorker() const {
    uint32_t critical = noIndex;
    int64_t minWaitingNs = 0;
    const bool areAllPartlyReported =
        std::ranges::all_of(workers, [this](const WorkerSummary& each) { return isPartlyReported(each); });
    for (uint32_t index = 0; index < workers.size(); ++index) {
        const WorkerSummary& worker = workers[index];
        if (worker.steps.empty() || (!areAllPartlyReported && isPartlyReported(worker))) continue;
        // Among ranks that step together, the one that waits least for the others.
        const StepParts parts = worker.totalParts();
        const int64_t waitingNs =
            (parts[StepPart::ExposedCommunication] + parts[StepPart::WaitingForRanks] - worker.totalWallNs()) /
            static_cast<int64_t>(worker.steps.size());
        if (critical != noIndex && waitingNs >= minWaitingNs) continue;
        critical = index;
        minWaitingNs = waitingNs;
    }
    return critical;
}

namespace {

/// Maximum events that are replayed for forecasts, which need few steps.
constexpr size_t maxReplayedEvents = 300'000;

/// Forecasts the step of the critical worker without calls and work that a program can do without. Other findings name
/// a better way to do work that stays, so that its removal is no forecast.
void addForecasts(const RunContext& run, std::span<const uint32_t> places, const RunSteps& steps, RunSummary& summary) {
    using causality::Change, causality::Subject;
    const uint32_t critical = summary.criticalWorker();
    if (critical == noIndex || steps.source == StepSource::WholeRun || steps.kind == StepKind::Request) return;
    WorkerSummary& worker = summary.workers[critical];
    const WorkerSteps* found = stepsOf(run.trace, steps, worker);
    if (found == nullptr) return;
    const causality::StepReplay replay = replaySteps(run, places, *found, maxReplayedEvents);
    if (!replay.refusal().empty()) return;
    for (const Subject subject : {Subject::Memset, Subject::Sync, Subject::Allocation}) {
        const causality::Forecast forecast = replay.forecast(std::vector{Change{subject, "", 0, true}});
        worker.forecasts.push_back({subject, std::llround(forecast.savedNs()), std::llround(forecast.marginNs)});
    }
    worker.path = pathTimes(run.trace, replay);
    if (worker.path.size() > maxPathTimes) worker.path.resize(maxPathTimes);
    const auto replayed = static_cast<double>(replay.stepCount());
    for (PathTime& each : worker.path) {
        each.ns = std::llround(static_cast<double>(each.ns) / replayed);
        each.count /= replayed;
    }
}

}  // namespace

Result<RunSummary> summarizeRun(const Trace& trace, const StepSelection& selection, const SummaryProgress& progress) {
    const auto isCancelled = [&](double fraction) { return progress && !progress(fraction); };
    RunSummary summary{.facts = factsOf(trace)};
    if (trace.isEmpty()) return summary;
    const Result<RunSteps> steps = findSteps(trace, selection);
    if (!steps) return fail(steps.error());
    summary.source = steps->source;
    summary.kind = steps->kind;
    summary.rangesPerStep = steps->rangesPerStep;
    summary.pattern = steps->pattern;
    summary.units = steps->units;
    summary.onlyCall = steps->onlyCall;
    summary.deferred = steps->deferred;
    if (isCancelled(0.1)) return fail("Summing up {} was cancelled.", trace.title);
    std::optional<RunContext> context;
    std::optional<SummarySources> data;
    const unsigned threads = defaultThreads();
    runTasks(threads, {[&] { context.emplace(trace, *steps); }, [&] { data.emplace(trace); }});
    if (isCancelled(0.3)) return fail("Summing up {} was cancelled.", trace.title);
    const RunContext& run = *context;
    const SummarySources& sources = *data;
    std::vector<const WorkerSteps*> ofWorkers;
    for (const WorkerSteps& each : steps->workers)
        if (!each.steps.empty()) ofWorkers.push_back(&each);
    summary.workers.resize(ofWorkers.size());
    for (size_t first = 0; first < ofWorkers.size(); first += threads) {
        const size_t end = std::min<size_t>(first + threads, ofWorkers.size());
        Tasks tasks;
        for (size_t index = first; index < end; ++index)
            tasks.emplace_back([&, index] {
                summary.workers[index] = summarizeWorker(run, sources, *ofWorkers[index]);
                describeWorker(trace, *ofWorkers[index], summary.workers[index]);
            });
        runTasks(threads, tasks);
        const double done = static_cast<double>(end) / static_cast<double>(ofWorkers.size());
        if (isCancelled(0.3 + 0.6 * done)) return fail("Summing up {} was cancelled.", trace.title);
    }
    runTasks(threads,
             {[&] { findDistinctions(run, summary, ofWorkers); }, [&] { summary.nvlink = nvlinkOf(trace, *steps); }});
    addCodeLines(trace, summary.workers);
    sortWorkers(summary.workers);
    addForecasts(run, sources.places, *steps, summary);
    return summary;
}

}  // namespace lanescope::analysis
