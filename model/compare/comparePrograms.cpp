// SPDX-License-Identifier: Apache-2.0
#include "model/compare/comparePrograms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/analysis/storedSummary.h"
#include "model/compare/answer.h"
#include "model/compare/judgeRuns.h"
#include "model/format/TimeRange.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/programOf.h"
#include "model/trace/healthNotes.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

/// Returns the range from the start of its first compared step to the end of its last, since 1970.
TimeRange utcOf(const SummaryFacts& facts, const WorkerSummary& worker) {
    const StepSummary& last = worker.steps.back();
    return {facts.startUtcNs + worker.steps.front().startNs, facts.startUtcNs + last.startNs + last.wallNs};
}

bool overlap(TimeRange one, TimeRange other) { return one.startNs < other.endNs && other.startNs < one.endNs; }

using Use = NvlinkVerdict::Use;

constexpr double alikeAmounts = 0.1;

bool hasSeveralGpus(const RunSummary& run) { return run.facts.gpuNames.size() > 1 || run.nvlink.use == Use::Used; }

std::string_view originOf(LinkEvidence evidence) {
    return enumText(evidence, {"no evidence", "by its counters", "computed from copies", "computed from NCCL"});
}

/// "222.4 MiB".
std::string amountOf(const NvlinkTraffic& traffic) {
    return traffic.bytesPerStep ? formatBytes(*traffic.bytesPerStep) : "an unknown amount";
}

std::string sideText(const NvlinkTraffic& traffic) {
    switch (traffic.use) {
        case Use::Used:
            if (traffic.bytesPerStep && traffic.stepEvidence != traffic.evidence)
                return fmt::format("{} ({}; used, {})", amountOf(traffic), originOf(traffic.stepEvidence),
                                   originOf(traffic.evidence));
            return fmt::format("{} (used; {})", amountOf(traffic), originOf(traffic.evidence));
        case Use::NotSeen:
            if (traffic.evidence == LinkEvidence::Counters)
                return fmt::format("{}not used{} {}{}", traffic.bytesPerStep ? amountOf(traffic) + " (" : "",
                                   traffic.bytesPerStep ? ";" : ",", originOf(traffic.evidence),
                                   traffic.bytesPerStep ? ")" : "");
            return fmt::format("not seen in use ({} at up to {:.3g} GB/s, as PCIe can; {})", amountOf(traffic),
                               static_cast<double>(traffic.bestBytesPerSecond) / 1e9, originOf(traffic.evidence));
        case Use::Absent: return "none (no NVLink connects its GPUs)";
        case Use::Unknown: break;
    }
    return "unknown (no link counters, and no transfer between GPUs that shows it)";
}

constexpr size_t maxShownWarnings = 3;
constexpr double alikeKernelCount = 0.1;
constexpr double alikeClocks = 0.02;

class Cautions {
  public:
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        sentences_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
    /// Adds a caution if both values are known and differ.
    void addIfOther(std::string_view what, const std::string& baseline, const std::string& candidate) {
        if (!baseline.empty() && !candidate.empty() && baseline != candidate)
            add("{}: {} in the baseline, {} in the candidate.", what, printable(baseline), printable(candidate));
    }
    std::vector<std::string> take() { return std::move(sentences_); }

  private:
    std::vector<std::string> sentences_;
};

std::string_view sourceText(const RunSummary& run) {
    switch (run.source) {
        case StepSource::NvtxRange: return "NVTX ranges";
        case StepSource::KernelPattern: return "the rhythm of the kernels";
        case StepSource::PythonLoop: return "a loop by its Python lines";
        case StepSource::WholeRun: return "none: the whole run counts as one";
        case StepSource::Chosen: return "a chosen interval";
    }
    return "";
}

std::string rangesText(const RunSummary& run) {
    return run.rangesPerStep == 1 ? "one range each" : fmt::format("{} ranges each", run.rangesPerStep);
}

bool areClocksOther(const SummaryFacts& before, const SummaryFacts& after) {
    const auto clock = static_cast<double>(before.smClockHz);
    return before.smClockHz > 0 && after.smClockHz > 0 &&
           std::abs(static_cast<double>(after.smClockHz) - clock) > alikeClocks * clock;
}

std::string megahertzText(int64_t hertz) {
    return withThousands(fmt::format("{:.0f}", static_cast<double>(hertz) / 1e6)) + " MHz";
}

double kernelsPerStep(const RunSummary& run) {
    int64_t kernels = 0, steps = 0;
    for (const WorkerSummary& worker : run.workers) {
        steps += static_cast<int64_t>(worker.steps.size());
        for (const Contributor& each : worker.contributors)
            if (each.part == StepPart::Compute) kernels += each.count;
    }
    return steps > 0 ? static_cast<double>(kernels) / static_cast<double>(steps) : 0;
}

void addWhatRan(const RunSummary& baseline, const RunSummary& candidate, Cautions& cautions) {
    const SummaryFacts& before = baseline.facts;
    const SummaryFacts& after = candidate.facts;
    if (isSameRecording(baseline, candidate)) cautions.add("Both sides are the same recording.");
    cautions.addIfOther("GPUs", gpusText(before), gpusText(after));
    if (before.worldSize != after.worldSize && before.worldSize > 0 && after.worldSize > 0)
        cautions.add("World size: {} in the baseline, {} in the candidate.", before.worldSize, after.worldSize);
    cautions.addIfOther("Driver", before.driver, after.driver);
    cautions.addIfOther("CUDA version of the driver", before.cuda, after.cuda);
    // Arguments differ on purpose, or by run.
    cautions.addIfOther("Program", programOf(before.commandLine), programOf(after.commandLine));
    cautions.addIfOther("Recording options", before.recordOptions, after.recordOptions);
    const double kernelsBefore = kernelsPerStep(baseline), kernelsAfter = kernelsPerStep(candidate);
    if (std::abs(kernelsAfter - kernelsBefore) > alikeKernelCount * std::max(kernelsAfter, kernelsBefore))
        cautions.add("Kernels per step: {:.0f} in the baseline, {:.0f} in the candidate.", kernelsBefore, kernelsAfter);
}

/// Adds differences of the machine's state during the runs, as opposed to its type.
void addHowItRan(const SummaryFacts& before, const SummaryFacts& after, Cautions& cautions) {
    if (areClocksOther(before, after))
        cautions.addIfOther("Mean SM clock of the GPUs", megahertzText(before.smClockHz),
                            megahertzText(after.smClockHz));
    cautions.addIfOther("Host", before.host, after.host);
    for (const auto& [side, facts] : {std::pair("baseline", &before), std::pair("candidate", &after)})
        if (!facts->otherGpuProcesses.empty())
            cautions.add("Other processes held memory of the {}'s GPUs while it ran: {}.", side,
                         printable(fmt::format("{}", fmt::join(facts->otherGpuProcesses, ", "))));
}

void addHowStepsWereFound(const RunSummary& baseline, const RunSummary& candidate, Cautions& cautions) {
    if (baseline.isEmpty() || candidate.isEmpty()) return;
    if (baseline.source != candidate.source) {
        cautions.addIfOther("Steps come from", std::string(sourceText(baseline)), std::string(sourceText(candidate)));
        return;
    }
    cautions.addIfOther("Steps begin with", baseline.pattern, candidate.pattern);
    cautions.addIfOther("Steps hold", rangesText(baseline), rangesText(candidate));
    cautions.addIfOther("What repeats is a", std::string(identifier(baseline.kind)),
                        std::string(identifier(candidate.kind)));
    if (baseline.source == StepSource::KernelPattern)
        cautions.add("Neither run marks its steps with NVTX ranges: they were found by the rhythm of the kernels.");
    if (baseline.source == StepSource::WholeRun)
        cautions.add("No steps were found in either run: each is compared as a whole, start-up included.");
}

void addLosses(std::string_view side, const SummaryFacts& facts, Cautions& cautions) {
    size_t shown = 0;
    bool isEndReported = false;
    for (const HealthNote& warning : facts.healthWarnings) {
        if (shown == maxShownWarnings) break;
        cautions.add("The {}: {}", side, printable(shownText(warning)));
        isEndReported = isEndReported || warning.code == HealthCode::ProcessEndedAbnormally;
        ++shown;
    }
    if (facts.isTruncated && !isEndReported)
        cautions.add("The {}: a process left no exit record; its last events may be missing.", side);
    if (const size_t more = facts.healthWarnings.size() - shown; more > 0)
        cautions.add("The {}: {} more warning{}; \"lanescope info\" says {}.", side, more, more == 1 ? "" : "s",
                     more == 1 ? "it" : "them");
    if (!facts.hasApiCalls && facts.kernelCount > 0)
        cautions.add("The {} has no CUDA API calls, so causes of GPU idle time are unknown.", side);
}

}  // namespace

bool isSameRecording(const RunSummary& one, const RunSummary& other) {
    const SummaryFacts &a = one.facts, &b = other.facts;
    if (a.contentHash == 0 || b.contentHash == 0) return false;
    if (a.contentHash == b.contentHash) return true;
    if (a.startUtcNs == 0 || b.startUtcNs == 0) return false;
    if (!a.host.empty() && !b.host.empty() && a.host != b.host) return false;
    for (const WorkerSummary& mine : one.workers)
        for (const WorkerSummary& theirs : other.workers)
            if (mine.pid == theirs.pid && !mine.steps.empty() && !theirs.steps.empty() &&
                overlap(utcOf(a, mine), utcOf(b, theirs)))
                return true;
    return false;
}

std::string nvlinkSentence(const RunSummary& baseline, const RunSummary& candidate) {
    if (!hasSeveralGpus(baseline) && !hasSeveralGpus(candidate)) return {};
    const bool isOneStep = candidate.source == StepSource::WholeRun || candidate.source == StepSource::Chosen;
    return fmt::format("NVLink, {}: baseline {}; candidate {}.",
                       isOneStep ? "sent by each GPU" : "sent by each GPU per step", sideText(baseline.nvlink),
                       sideText(candidate.nvlink));
}

bool isNvlinkUseOther(const RunSummary& baseline, const RunSummary& candidate) {
    const NvlinkTraffic& before = baseline.nvlink;
    const NvlinkTraffic& after = candidate.nvlink;
    if ((before.use == Use::Used) != (after.use == Use::Used)) return true;
    if (before.use != Use::Used || !before.bytesPerStep || !after.bytesPerStep) return false;
    const auto [less, more] = std::minmax(*before.bytesPerStep, *after.bytesPerStep);
    return static_cast<double>(more - less) > alikeAmounts * static_cast<double>(more);
}

std::string gpusText(const SummaryFacts& facts) {
    std::vector<std::string> names = facts.gpuNames;
    std::ranges::sort(names);
    std::string text;
    for (size_t begin = 0; begin < names.size();) {
        size_t end = begin;
        while (end < names.size() && names[end] == names[begin]) ++end;
        text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", end - begin,
                            names[begin].empty() ? "unknown GPU" : names[begin]);
        begin = end;
    }
    return text;
}

std::vector<std::string_view> machineDifferences(const SummaryFacts& baseline, const SummaryFacts& candidate) {
    std::vector<std::string_view> differences;
    const auto addIf = [&](bool isOther, std::string_view what) {
        if (isOther) differences.push_back(what);
    };
    const auto areOther = [](const std::string& before, const std::string& after) {
        return !before.empty() && !after.empty() && before != after;
    };
    addIf(areOther(gpusText(baseline), gpusText(candidate)), "GPUs");
    addIf(areOther(baseline.driver, candidate.driver), "driver");
    addIf(areOther(baseline.host, candidate.host), "host");
    addIf(areClocksOther(baseline, candidate), "SM clock");
    addIf(baseline.otherGpuProcesses.empty() != candidate.otherGpuProcesses.empty(), "other processes on the GPUs");
    return differences;
}

std::vector<std::string> cautionsOf(const RunSummary& baseline, const RunSummary& candidate) {
    Cautions cautions;
    addWhatRan(baseline, candidate, cautions);
    addHowItRan(baseline.facts, candidate.facts, cautions);
    addHowStepsWereFound(baseline, candidate, cautions);
    if (baseline.workers.size() != candidate.workers.size() && !baseline.isEmpty() && !candidate.isEmpty())
        cautions.add("Processes on GPUs: {} in the baseline, {} in the candidate; only pairs are compared.",
                     baseline.workers.size(), candidate.workers.size());
    addLosses("baseline", baseline.facts, cautions);
    addLosses("candidate", candidate.facts, cautions);
    cautions.addIfOther("Recorded by", baseline.facts.producer, candidate.facts.producer);
    return cautions.take();
}

namespace {

void addContributors(const WorkerSummary& from, WorkerSummary& to) {
    using Key = std::tuple<StepPart, ContributorKind, const ContributorName&, std::string_view>;
    const auto keyOf = [](const Contributor& each) { return Key(each.part, each.kind, each.name, each.path); };
    std::map<Key, size_t> places;
    for (size_t index = 0; index < to.contributors.size(); ++index)
        places.emplace(keyOf(to.contributors[index]), index);
    std::vector<Contributor> added;
    for (const Contributor& each : from.contributors) {
        const auto place = places.find(keyOf(each));
        if (place == places.end()) {
            added.push_back(each);
            continue;
        }
        Contributor& sum = to.contributors[place->second];
        sum.add(each);
        if (sum.launched != each.launched) sum.launched = {};
    }
    to.contributors.insert(to.contributors.end(), std::make_move_iterator(added.begin()),
                           std::make_move_iterator(added.end()));
}

/// Adds the name of the run to the outliers from number `first` on.
void nameOutliers(WorkerSummary& worker, size_t first, const std::string& label, const std::string& title) {
    for (size_t index = first; index < worker.outliers.size(); ++index)
        worker.outliers[index].run = fmt::format("{} of {}", label, printable(title));
}

/// Returns the mean of two counts, weighted.
int64_t weightedMean(int64_t a, int64_t weightOfA, int64_t b, int64_t weightOfB) {
    const double weights = static_cast<double>(weightOfA) + static_cast<double>(weightOfB);
    if (weights <= 0) return 0;
    return std::llround((static_cast<double>(a) * static_cast<double>(weightOfA) +
                         static_cast<double>(b) * static_cast<double>(weightOfB)) /
                        weights);
}

/// Adds the readings and counts of another run; drops those of which it has none, or of another precision.
void addUse(const ComputeUse& from, ComputeUse& to) {
    if (from.precision != to.precision || from.sheetPerSecond != to.sheetPerSecond) {
        to = {};
        return;
    }
    to.activePerSecond = weightedMean(to.activePerSecond, to.knownNs, from.activePerSecond, from.knownNs);
    to.measuredPerSecond = to.measuredPerSecond > 0 && from.measuredPerSecond > 0
                               ? std::max(to.measuredPerSecond, from.measuredPerSecond)
                               : 0;
    const bool haveReadings = to.readings > 0 && from.readings > 0;
    to.readings = haveReadings ? to.readings + from.readings : 0;
    to.knownNs = haveReadings ? to.knownNs + from.knownNs : 0;
    to.readSteps = haveReadings && to.readSteps > 0 && from.readSteps > 0 ? to.readSteps + from.readSteps : 0;
    to.readingNs = std::max(to.readingNs, from.readingNs);
    to.isShared |= from.isShared;
    to.modelPerStep = weightedMean(to.modelPerStep, to.countedSteps, from.modelPerStep, from.countedSteps);
    to.repeatedPerStep = weightedMean(to.repeatedPerStep, to.countedSteps, from.repeatedPerStep, from.countedSteps);
    const bool areCounted = to.countedSteps > 0 && from.countedSteps > 0;
    to.countedSteps = areCounted ? to.countedSteps + from.countedSteps : 0;
    to.countedNs = areCounted ? to.countedNs + from.countedNs : 0;
    to.kernelNs = saturatingSum(to.kernelNs, from.kernelNs);
    to.knownKernelNs = saturatingSum(to.knownKernelNs, from.knownKernelNs);
}

void addWorker(const WorkerSummary& from, const std::string& title, WorkerSummary& to) {
    const size_t known = to.outliers.size();
    to.endedAbnormally |= from.endedAbnormally;
    to.foundSteps += from.foundSteps;
    to.warmUpSteps += from.warmUpSteps;
    to.isLastLeftOut |= from.isLastLeftOut;
    to.workNs += from.workNs;
    to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
    to.outliers.insert(to.outliers.end(), from.outliers.begin(), from.outliers.end());
    nameOutliers(to, known, from.label(), title);
    addContributors(from, to);
    addUse(from.use, to.use);
    to.shaped.clear();
}

/// Returns the mean of the critical paths of those runs that have one.
std::vector<PathTime> meanPath(RunGroup runs, const PooledRuns& pooled, uint32_t worker) {
    std::map<std::tuple<PathPart, std::optional<int>, std::string, std::string>, PathTime> sums;
    int64_t paths = 0;
    for (size_t run = 0; run < runs.size(); ++run) {
        const std::vector<PathTime>& path = runs[run].workers[pooled.workers[run][worker]].path;
        paths += !path.empty();
        for (const PathTime& each : path) {
            const auto [sum, isNew] = sums.try_emplace({each.part, each.rank, each.name, each.line}, each);
            if (isNew) continue;
            sum->second.ns = saturatingSum(sum->second.ns, each.ns);
            sum->second.count += each.count;
        }
    }
    std::vector<PathTime> mean;
    for (auto& [key, sum] : sums) {
        sum.ns /= paths;
        sum.count /= static_cast<double>(paths);
        mean.push_back(std::move(sum));
    }
    std::ranges::stable_sort(mean, std::ranges::greater(), &PathTime::ns);
    if (mean.size() > maxPathTimes) mean.resize(maxPathTimes);
    return mean;
}

void setInOrder(WorkerSummary& worker) {
    std::ranges::stable_sort(worker.contributors, {},
                             [](const Contributor& each) { return std::tuple(each.part, -each.exposedNs); });
    std::ranges::stable_sort(worker.outliers, std::ranges::greater(), &OutlierStep::excessNs);
    if (worker.outliers.size() > maxOutliers) worker.outliers.resize(maxOutliers);
}

void addFacts(const SummaryFacts& from, SummaryFacts& to) {
    to.kernelCount += from.kernelCount;
    to.hasApiCalls = to.hasApiCalls && from.hasApiCalls;
    to.isTruncated |= from.isTruncated;
    to.isNvlinkPresent |= from.isNvlinkPresent;
    for (const HealthNote& warning : from.healthWarnings)
        if (std::ranges::find(to.healthWarnings, warning) == to.healthWarnings.end())
            to.healthWarnings.push_back(warning);
    to.smClockHz += from.smClockHz;  // Divided at the end to give the mean.
    for (const std::string& process : from.otherGpuProcesses)
        if (std::ranges::find(to.otherGpuProcesses, process) == to.otherGpuProcesses.end())
            to.otherGpuProcesses.push_back(process);
    to.contentHash = 0;  // Several recordings are no copy of one.
}

/// Returns a common NVLink verdict only if the runs agree, with the mean of their bytes.
NvlinkTraffic commonTraffic(RunGroup runs) {
    NvlinkTraffic common = runs.front().nvlink;
    int64_t bytes = 0;
    for (const RunSummary& run : runs) {
        const NvlinkTraffic& each = run.nvlink;
        if (each.use != common.use || each.evidence != common.evidence || each.stepEvidence != common.stepEvidence)
            return {};
        if (!each.bytesPerStep) common.bytesPerStep.reset();
        bytes += each.bytesPerStep.value_or(0) / static_cast<int64_t>(runs.size());
        common.bestBytesPerSecond = std::max(common.bestBytesPerSecond, each.bestBytesPerSecond);
    }
    if (common.bytesPerStep) common.bytesPerStep = bytes;
    return common;
}

std::string titlesOf(RunGroup runs) {
    std::string titles;
    for (const RunSummary& run : runs) titles += (titles.empty() ? "" : ", ") + run.facts.title;
    return titles;
}

Result<void> checkSteps(const RunSummary& run, std::string_view side) {
    const bool hasSteps = std::ranges::all_of(run.workers, [](const auto& worker) { return !worker.steps.empty(); });
    if (!run.isEmpty() && hasSteps) return {};
    return fail("Run {} of the {} has no steps on {}, so it cannot be compared with the others.",
                printable(run.facts.title), side, run.isEmpty() ? "any GPU" : "one of its GPUs");
}

bool isAmong(RunGroup runs, const RunSummary& run) {
    return std::ranges::any_of(runs, [&](const RunSummary& each) { return isSameRecording(each, run); });
}

/// "a.sqlite and b.sqlite", "Two files named a.sqlite".
std::string bothOf(const std::string& one, const std::string& other) {
    return one == other ? fmt::format("Two files named {}", printable(one))
                        : fmt::format("{} and {}", printable(one), printable(other));
}

/// A recording that is listed twice, as two files, would count as two runs that agree entirely.
Result<void> checkRunsDiffer(RunGroup runs, RunGroup others) {
    for (size_t second = 0; second < runs.size(); ++second) {
        const RunGroup before = runs.first(second);
        for (const RunGroup group : {before, others})
            for (const RunSummary& first : group)
                if (isSameRecording(first, runs[second]))
                    return fail("{} are copies of one recording, which is one run: name it once.",
                                bothOf(first.facts.title, runs[second].facts.title));
    }
    return {};
}

using Predicate = std::function<bool(const RunSummary&)>;

/// Returns the counterpart of the worker in each run for which `isWanted` is true.
WorkerRuns workersOf(RunGroup runs, const PooledRuns& pooled, uint32_t worker, const Predicate& isWanted) {
    WorkerRuns workers;
    for (size_t run = 0; run < runs.size(); ++run)
        if (isWanted(runs[run])) workers.push_back(&runs[run].workers[pooled.workers[run][worker]]);
    return workers;
}

/// Without any spread there is no verdict on programs.
bool hasSpread(const JudgedRuns& runs) {
    return runs.baseline.size() > 1 || runs.candidate.size() > 1 || runs.earlier.size() > 1;
}

/// Runs of a side that differ are not runs of one program.
void addCautions(RunGroup runs, std::string_view side, std::vector<std::string>& cautions) {
    for (const RunSummary& run : runs) {
        // Arguments differ between runs, as seeds and output folders do.
        const std::string first = programOf(runs.front().facts.commandLine), other = programOf(run.facts.commandLine);
        if (first != other)
            cautions.push_back(fmt::format("The runs of the {} are of different programs: {} and {}.", side,
                                           printable(first), printable(other)));
        else if (run.pattern != runs.front().pattern)
            cautions.push_back(fmt::format("The runs of the {} have other steps: {} and {}.", side,
                                           printable(runs.front().pattern), printable(run.pattern)));
        else
            continue;
        return;
    }
}

}  // namespace

Result<PooledRuns> poolRuns(RunGroup runs, std::string_view side) {
    PooledRuns pooled;
    for (const RunSummary& run : runs) {
        const Result<void> checked = checkSteps(run, side);
        if (!checked) return fail(checked.error());
        if (&run == &runs.front()) {
            pooled.summary = run;
            if (runs.size() > 1)
                for (WorkerSummary& worker : pooled.summary.workers)
                    nameOutliers(worker, 0, worker.label(), run.facts.title);
        }
        const std::vector<WorkerPair> pairs = workerPairs(pooled.summary, run);
        if (pairs.size() != pooled.summary.workers.size() || pairs.size() != run.workers.size())
            return fail("Runs {} and {} of the {} have not the same processes on GPUs.",
                        printable(runs.front().facts.title), printable(run.facts.title), side);
        std::vector<uint32_t>& places = pooled.workers.emplace_back(pairs.size());
        for (const WorkerPair& pair : pairs) {
            places[pair.baseline] = pair.candidate;
            if (&run != &runs.front())
                addWorker(run.workers[pair.candidate], run.facts.title, pooled.summary.workers[pair.baseline]);
        }
        if (&run != &runs.front()) addFacts(run.facts, pooled.summary.facts);
    }
    if (pooled.workers.empty()) return fail("The {} has no runs.", side);
    if (runs.size() == 1) return pooled;
    for (uint32_t worker = 0; worker < pooled.summary.workers.size(); ++worker) {
        pooled.summary.workers[worker].path = meanPath(runs, pooled, worker);
        setInOrder(pooled.summary.workers[worker]);
    }
    const bool areClocksKnown =
        std::ranges::all_of(runs, [](const RunSummary& run) { return run.facts.smClockHz > 0; });
    pooled.summary.facts.smClockHz =
        areClocksKnown ? pooled.summary.facts.smClockHz / static_cast<int64_t>(runs.size()) : 0;
    pooled.summary.facts.title = titlesOf(runs);
    pooled.summary.nvlink = commonTraffic(runs);
    return pooled;
}

RunTurns runTurns(RunGroup baseline, RunGroup candidate) {
    RunTurns turns;
    if (baseline.size() != candidate.size() || baseline.size() < minAlternatingRuns) return turns;
    struct Start {
        int64_t utcNs = 0;
        bool isCandidate = false;
        size_t run = 0;
    };
    std::vector<Start> starts;
    for (const auto& [runs, isCandidate] : {std::pair(baseline, false), std::pair(candidate, true)})
        for (size_t run = 0; run < runs.size(); ++run) {
            const SummaryFacts& facts = runs[run].facts;
            if (facts.startUtcNs <= 0 || facts.host != baseline.front().facts.host) return turns;
            starts.push_back({facts.startUtcNs, isCandidate, run});
        }
    std::ranges::stable_sort(starts, {}, &Start::utcNs);
    for (size_t at = 0; at < starts.size(); at += 2)
        if (starts[at].isCandidate == starts[at + 1].isCandidate) return turns;
    turns.baseline.resize(baseline.size());
    turns.candidate.resize(candidate.size());
    for (size_t at = 0; at < starts.size(); ++at)
        (starts[at].isCandidate ? turns.candidate : turns.baseline)[starts[at].run] = static_cast<double>(at);
    return turns;
}

Result<ProgramComparison> comparePrograms(RunGroup baseline, RunGroup candidate, RunGroup earlier) {
    if (baseline.size() == 1 && candidate.size() == 1 && earlier.empty())
        return ProgramComparison{baseline.front(), candidate.front(),
                                 compareRuns({baseline.front()}, {candidate.front()})};
    Result<void> differ = checkRunsDiffer(baseline, candidate);
    if (differ) differ = checkRunsDiffer(candidate, {});
    if (differ) differ = checkRunsDiffer(earlier, {});
    if (!differ) return fail(differ.error());
    const Result<PooledRuns> before = poolRuns(baseline, "baseline");
    if (!before) return fail(before.error());
    const Result<PooledRuns> after = poolRuns(candidate, "candidate");
    if (!after) return fail(after.error());
    PooledRuns spread;
    if (!earlier.empty()) {
        Result<PooledRuns> pooled = poolRuns(earlier, "earlier runs");
        if (!pooled) return fail(pooled.error());
        spread = std::move(*pooled);
        if (spread.summary.workers.size() != before->summary.workers.size())
            return fail("The earlier runs have not the same processes on GPUs as the baseline.");
    }
    ProgramComparison programs{before->summary, after->summary, {}};
    RunComparison& comparison = programs.comparison;
    comparison = compareRuns({programs.baseline}, {programs.candidate});
    const Predicate isAny = [](const RunSummary&) { return true; };
    // Differences among the runs of a side are reported there.
    const Predicate isNew = [&](const RunSummary& run) {
        return (baseline.size() == 1 || !isAmong(baseline, run)) && (candidate.size() == 1 || !isAmong(candidate, run));
    };
    const RunTurns turns = earlier.empty() ? runTurns(baseline, candidate) : RunTurns{};
    for (size_t index = 0; index < comparison.workers.size(); ++index) {
        WorkerComparison& pair = comparison.workers[index];
        JudgedRuns runs{workersOf(baseline, *before, pair.baselineWorker, isAny),
                        workersOf(candidate, *after, pair.candidateWorker, isAny),
                        {},
                        turns.baseline,
                        turns.candidate};
        if (!earlier.empty()) runs.earlier = workersOf(earlier, spread, pair.baselineWorker, isNew);
        if (!hasSpread(runs) || pair.claim.outcome == Outcome::Nothing) continue;
        judgeParts(runs, pair);
        comparison.exact[index].quantities = pair.quantities;
        comparison.exact[index].claim = pair.claim;
    }
    answer(comparison, programs.baseline, programs.candidate);
    addCautions(baseline, "baseline", comparison.answer.cautions);
    addCautions(candidate, "candidate", comparison.answer.cautions);
    if (!earlier.empty() &&
        programOf(earlier.front().facts.commandLine) != programOf(baseline.front().facts.commandLine))
        comparison.answer.cautions.push_back(
            "The earlier runs are of another program than the baseline, so its runs may differ more or less than they "
            "do.");
    return programs;
}

StoredComparisonPtr compareStoredRuns(const std::filesystem::path& baseline, const std::filesystem::path& candidate) {
    std::optional<RunSummary> before = readRunSummary(baseline);
    if (!before) return nullptr;
    std::optional<RunSummary> after = readRunSummary(candidate);
    if (!after) return nullptr;
    auto stored = std::make_shared<StoredComparison>();
    stored->baseline = std::move(*before);
    stored->candidate = std::move(*after);
    stored->comparison = compareRuns(BaselineRun{stored->baseline}, CandidateRun{stored->candidate});
    const WorkerComparison* pair = stored->comparison.criticalPair();
    if (!pair || pair->baselineWorker == noIndex || pair->candidateWorker == noIndex) return nullptr;
    return stored;
}

}  // namespace lanescope::compare
