// SPDX-License-Identifier: Apache-2.0
// Rules about single steps and the time between steps.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "model/analysis/shownNumbers.h"
#include "model/analysis/stepPatterns.h"
#include "model/analysis/stepRanges.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/programKind.h"
#include "model/explain/rules.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

using Findings = std::vector<Finding>;

/// Excess time of a pattern's steps, spread over all steps; equal to the minimum of a pattern (`patternOf`).
constexpr double minPatternShare = 0.02;
/// Minimum share of the odd steps that belong to a period, for the period to be reported instead.
constexpr double periodShareThreshold = 0.75;
/// Minimum number of outlier steps of which a constant distance is reported.
constexpr size_t minStepsOfDistance = 4;

void findOddSteps(RunFindings& run) {
    int64_t excessNs = 0;
    for (const OutlierStep& each : run.worker().outliers) excessNs += each.excessNs;
    if (excessNs == 0) return;
    Finding* odd = run.add(run.perStep(excessNs), minShare, nullptr);
    if (odd == nullptr) return;
    const OutlierStep& longest = run.worker().outliers.front();
    odd->contributor = longest.contributor;
    odd->path = longest.path;
    odd->atNs = longest.startNs;
}

/// Returns the constant distance of outliers in steps, else 0. If only the longest are known, others may be between.
int64_t distanceOf(const std::vector<OutlierStep>& odd) {
    if (odd.size() < minStepsOfDistance) return 0;
    std::vector<int64_t> numbers;
    for (const OutlierStep& each : odd) numbers.push_back(each.number);
    std::ranges::sort(numbers);
    int64_t common = 0;
    for (size_t index = 1; index < numbers.size(); ++index)
        common = std::gcd(common, numbers[index] - numbers[index - 1]);
    if (common <= 0) return 0;
    const int64_t known = static_cast<int64_t>(numbers.size()) - 1;
    const int64_t possible = (numbers.back() - numbers.front()) / common;
    return possible == known || (odd.size() == maxOutliers && possible <= 2 * known) ? common : 0;
}

std::string sayOddSteps(const FindingText& text) {
    const WorkerSummary& odd = text.worker();
    const OutlierStep& longest = odd.outliers.front();
    const std::string_view many = odd.outliers.size() == 1 ? "s" : "";
    std::string said = fmt::format(
        "{}{} of {} {}s take{} far longer than the others. Averaged over all {}s, their time above the median is {}. "
        "The "
        "longest, {} {}, takes {} more than the median {}: {}",
        odd.outliers.size() == maxOutliers ? "At least " : "", odd.outliers.size(), odd.steps.size(), text.unit(), many,
        text.unit(), text.time(), text.unit(), longest.number, timeText(static_cast<double>(longest.excessNs)),
        text.unit(), name(longest.part));
    if (!text.finding().contributor.empty()) said += fmt::format(", {}", text.main());
    said += "." + text.place();
    if (const int64_t every = distanceOf(odd.outliers); every > 1)
        said += fmt::format(" The long {}s are every {} {}.", text.unit(), ordinalText(every), text.unit());
    return said + text.onlyThere();
}

Evidence oddStepsEvidence(const FindingText& text) {
    const WorkerSummary& worker = text.worker();
    std::vector<uint32_t> affected;
    for (uint32_t index = 0; index < worker.steps.size(); ++index)
        if (std::ranges::find(worker.outliers, worker.steps[index].number, &OutlierStep::number) !=
            worker.outliers.end())
            affected.push_back(index);
    return EvidenceQuery(text).steps(worker.outliers.front().part, affected);
}

std::optional<StepPart> longerPartOfOddSteps(const RunSummary& run, const Finding& finding) {
    return run.workers[finding.worker].outliers.front().part;
}

bool isPeriod(const Finding& each) { return each.pattern && each.pattern->kind == PatternKind::Period; }

/// Removes the finding about odd steps if most of them are steps of the period.
void reportOddStepsOnce(RunFindings& run, const Finding& period) {
    const WorkerSummary& worker = run.run().workers[period.worker];
    const auto isIts = [&](const OutlierStep& odd) {
        return std::ranges::any_of(period.pattern->affected,
                                   [&](uint32_t place) { return worker.steps[place].number == odd.number; });
    };
    if (static_cast<double>(std::ranges::count_if(worker.outliers, isIts)) >=
        periodShareThreshold * static_cast<double>(worker.outliers.size()))
        run.remove(oddStepsRule, period.worker);
}

/// Returns true if the period is that of a larger unit, which begins with a longer step. Named steps have none.
bool isOfLargerUnit(const RunSummary& run, const WorkerSummary& worker, const StepPattern& pattern) {
    return pattern.kind == PatternKind::Period && run.source != StepSource::NvtxRange &&
           std::ranges::any_of(run.units, [&](const StepUnit& unit) {
               const int64_t steps = unit.count * pattern.period;
               return unit.count > 0 && std::abs(steps - worker.foundSteps) <= pattern.period;
           });
}

/// Returns true for a drift of a GPU at its power cap, which lowers its clocks as it warms up and then computes more
/// slowly.
bool isOfPowerCap(const RunSummary& run, uint32_t worker, const StepPattern& pattern) {
    if (pattern.part != StepPart::Compute) return false;
    if (pattern.kind != PatternKind::Drift && pattern.kind != PatternKind::Level) return false;
    const WorkerSummary& of = run.workers[worker];
    const double meanNs = static_cast<double>(of.totalWallNs()) / static_cast<double>(of.steps.size());
    return static_cast<double>(std::abs(pattern.excessNs)) <= powerCapShare(run, worker) * meanNs;
}

/// Checks each rank: one that is late in a few steps waits for others in the rest. A pattern that all ranks have
/// because of one of them is that rank's.
void findStepPattern(RunFindings& run) {
    const std::vector<WorkerSummary>& workers = run.run().workers;
    std::optional<StepPattern> worst;
    uint32_t where = 0;
    for (uint32_t worker = 0; worker < workers.size(); ++worker) {
        auto found = patternOf(workers[worker].steps, workers.size());
        if (!found || groupOf(found->part) == PartGroup::Collectives || found->costNs <= 0) continue;
        if (workers.size() == 1 && isOfBatchSize(*found, workers[worker])) continue;
        if (isOfLargerUnit(run.run(), workers[worker], *found) || isOfPowerCap(run.run(), worker, *found)) continue;
        if (worst && worst->costNs >= found->costNs) continue;
        worst = std::move(found);
        where = worker;
    }
    if (!worst) return;
    Finding* finding = run.add(worst->costNs, minPatternShare, nullptr);
    if (finding == nullptr) return;
    finding->worker = where;
    finding->atNs = workers[where].steps[worst->affected.front()].startNs;
    const auto isIts = [&](const Contributor& each) { return each.part == worst->part; };
    const Contributor* main = RunFindings::greatestOf(workers[where], isIts);
    // The largest contributor of growing steps may be one that does not grow, unless it is most of the part.
    if (main != nullptr &&
        (worst->kind != PatternKind::Drift || 2 * main->exposedNs >= workers[where].totalParts()[worst->part])) {
        finding->contributor = main->name;
        finding->path = main->path;
        finding->launched = main->launched;
    }
    finding->pattern = std::move(worst);
    if (isPeriod(*finding)) reportOddStepsOnce(run, *finding);
}

/// "rank 2, GPU 2: every third step takes 13.900 ms longer ...".
std::string sayStepPattern(const FindingText& text) {
    const StepPattern& found = *text.finding().pattern;
    const std::string unit = text.unit();
    std::string which;
    switch (found.kind) {
        case PatternKind::Period:
            which = fmt::format("every {} {}, from {} on, takes", ordinalText(found.period), unit, found.firstNumber);
            break;
        case PatternKind::Level: which = fmt::format("{}s from {} on take", unit, found.firstNumber); break;
        case PatternKind::TwoModes:
            which = fmt::format("{} of the {}s, in no order, take", shareText(found.share), unit);
            break;
        case PatternKind::Drift: which = unit + "s grow all the way and at the end take"; break;
    }
    std::string said =
        fmt::format("{}: {} {} longer, {}{} in the mean: {}", text.worker().label(), which,
                    timeText(static_cast<double>(found.excessNs)),
                    timeText(static_cast<double>(text.finding().maxGainNs)), text.per(), name(found.part));
    if (!text.finding().contributor.empty()) said += fmt::format(", mostly {}", text.main());
    said += "." + text.place();
    for (const Finding& each : text.finding().merged)
        said += fmt::format(" These pauses are most of the {} of {}.", timeText(static_cast<double>(each.maxGainNs)),
                            each.rule->id);
    return said + text.onlyThere();
}

std::string adviseStepPattern(const FindingText& text) {
    if (text.finding().pattern->kind != PatternKind::Drift) return text.adviseCause(stepPatternRule.advice);
    return text.adviseCause(
        "Find what gets longer from step to step: sequences, a cache, a list, a graph of gradients. "
        "Some grow by design, as a cache of keys and values does.");
}

Evidence patternEvidence(const FindingText& text) {
    const StepPattern& found = *text.finding().pattern;
    return EvidenceQuery(text).steps(found.part, found.affected);
}

Evidence pausesEvidence(const FindingText& text) { return {EvidenceQuery(text).pauses(), text.worker().pauses.idleNs}; }

/// Only the steps of a period are all longer by this part.
std::optional<StepPart> longerPartOfPattern(const RunSummary&, const Finding& finding) {
    return isPeriod(finding) ? std::optional(finding.pattern->part) : std::nullopt;
}

bool isOfTheSame(const Finding& a, const Finding& b) {
    return a.worker == b.worker && !a.contributor.empty() && a.contributor == b.contributor;
}

/// A periodically longer step is more informative than its longer part if it is more of that part than all the rest.
void putPeriodFirst(Findings& findings) {
    const auto period = std::ranges::find_if(findings, isPeriod);
    if (period == findings.end()) return;
    const auto isMostlyOfIt = [&](const Finding& each) {
        return isOfTheSame(each, *period) && period->maxGainNs > each.maxGainNs - period->maxGainNs;
    };
    const auto first = std::find_if(findings.begin(), period, isMostlyOfIt);
    std::rotate(first, period, period + 1);
}

double meanOfPart(const WorkerSummary& worker, StepPart part) {
    double sumNs = 0;
    for (const StepSummary& step : worker.steps) sumNs += static_cast<double>(step.parts[part]);
    return sumNs / static_cast<double>(std::max<size_t>(worker.steps.size(), 1));
}

/// Returns true if more than half of a pattern's cost is time of the finding: one part has no room for both.
bool isCauseOf(const RunSummary& run, const Finding& each, const Finding& pattern) {
    const StepPattern& found = *pattern.pattern;
    if (each.worker != pattern.worker || each.rule->part != found.part) return false;
    const double excessNs = static_cast<double>(found.partExcessNs) * found.share;
    const double sharedNs =
        static_cast<double>(each.maxGainNs) + excessNs - meanOfPart(run.workers[each.worker], found.part);
    return sharedNs > static_cast<double>(pattern.maxGainNs) / 2;
}

/// The fact that some steps are longer, in no order or from one on, is less informative than the cause of their excess.
void putCauseBeforePattern(const RunSummary& run, Findings& findings) {
    const auto pattern =
        std::ranges::find_if(findings, [](const Finding& each) { return each.pattern && !isPeriod(each); });
    if (pattern == findings.end()) return;
    const auto cause = std::find_if(pattern + 1, findings.end(), [&](const Finding& each) {
        return isCauseOf(run, each, *pattern) ||
               (isOfTheSame(each, *pattern) && each.maxGainNs > pattern->maxGainNs - each.maxGainNs);
    });
    if (cause != findings.end()) std::rotate(pattern, pattern + 1, cause + 1);
}

/// From this share of the mean step on, a cause that only some steps or one rank have is the first to change.
constexpr double minDistinctShare = 0.05;

/// Late launches are a fact of most programs.
bool isGeneral(const Finding& each) { return each.rule == &launchBoundRule || each.rule == &gpuIdleRule; }

/// A cause that only the steps of a pattern or the late rank have is a fact. Rare steps with less time explain little.
void putDistinctionsBeforeLaunches(const RunSummary& run, Findings& findings) {
    for (size_t place = 1; place < findings.size(); ++place) {
        const Finding& each = findings[place];
        if (each.rule == &oddStepsRule || each.share < minDistinctShare ||
            distinctionOf(run.workers[each.worker], each) == nullptr)
            continue;
        const auto from =
            std::find_if(findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(place), isGeneral);
        const auto own = findings.begin() + static_cast<std::ptrdiff_t>(place);
        if (from != own) std::rotate(from, own, own + 1);
    }
}

/// Odd steps follow the causes that have most of their excess, and together save more.
void putCausesBeforeOddSteps(const RunSummary& run, Findings& findings) {
    const auto odd = std::ranges::find(findings, &oddStepsRule, &Finding::rule);
    if (odd == findings.end()) return;
    const WorkerSummary& worker = run.workers[odd->worker];
    const StepPart part = worker.outliers.front().part;
    int64_t excessNs = 0, causesNs = 0;
    for (const OutlierStep& each : worker.outliers) excessNs += each.part == part ? each.partExcessNs : 0;
    auto first = findings.end();
    for (auto each = findings.begin(); each != findings.end(); ++each) {
        if (each->worker != odd->worker || each->rule->isOfSingleSteps() || isGeneral(*each) ||
            partOf(run, *each) != part)
            continue;
        causesNs += each->maxGainNs;
        if (first == findings.end()) first = each;
    }
    // One part has no room for both.
    const double sharedNs = static_cast<double>(causesNs) - meanOfPart(worker, part) +
                            static_cast<double>(excessNs) / static_cast<double>(worker.steps.size());
    if (first != findings.end() && first > odd && causesNs > odd->maxGainNs &&
        sharedNs > static_cast<double>(odd->maxGainNs) / 2)
        std::rotate(odd, first, first + 1);
}

/// A period precedes the part of which it is more than half, a part precedes the irregular pattern of which it is most.
void orderStepPattern(const RunSummary& run, Findings& findings) {
    putPeriodFirst(findings);
    putCauseBeforePattern(run, findings);
    putDistinctionsBeforeLaunches(run, findings);
}

/// Returns true if the only pause follows the first step: a trial, before the run compiles or loads once.
bool isStartUp(const WorkerSummary& worker) {
    const StepSummary& first = worker.steps.front();
    const auto left = worker.foundSteps - static_cast<int64_t>(worker.steps.size());
    return worker.pauses.count == 1 && worker.warmUpSteps == 0 && left <= 1 &&
           worker.pauses.longestStartNs == first.startNs + first.wallNs;
}

/// Returns the cause of most idle time between steps; null if unknown.
const Contributor* mainOfPauses(const WorkerSummary& worker) {
    const PhaseSummary* between = worker.phase(RunPhase::Between);
    if (between == nullptr) return nullptr;
    const auto main = std::ranges::find(between->contributors, ContributorKind::Idle, &Contributor::kind);
    return main == between->contributors.end() ? nullptr : &*main;
}

/// Words of names of functions, files and ranges that write a state of the program.
constexpr std::array<std::string_view, 6> savingWords{"checkpoint", "checkpoints", "ckpt",
                                                      "save",       "saver",       "serialization"};
constexpr std::array<std::string_view, 2> loadingCalls{"cuLibraryLoadData", "cuModuleLoadData"};

/// Advice as far as names show what the program does there.
std::string adviseIdleBetweenSteps(const FindingText& text) {
    if (!text.worker().recompiled.empty()) return adviceOf(text.run(), compilingRule);
    const IdleCause& cause = text.finding().contributor.idle;
    const FrameRef& frame = cause.activity.frame;
    const std::string names = fmt::format("{} {} {}", text.finding().path, frame.function, frame.file);
    if (cause.activity.work == ThreadWork::Saving || hasWord(names, savingWords))
        return adviceFor(text.run(),
                         {"Save less often, or copy to host memory and write on another thread or process "
                          "(torch.distributed.checkpoint.async_save).",
                          "Save less often, or asynchronously (orbax.checkpoint.AsyncCheckpointer).",
                          "Save less often, or copy to host memory and write on another thread or process."});
    if (namesEvaluation(names, true)) return "Evaluate less often or on other GPUs, with data loaded before.";
    if (std::ranges::any_of(loadingCalls, [&](std::string_view call) { return cause.call.starts_with(call); }))
        return "Code that is loaded at first use belongs in a warm-up before the steps.";
    return adviceOf(text.run(), idleBetweenStepsRule);
}

/// The time between requests is not the program's to change.
void findIdleBetweenSteps(RunFindings& run) {
    const StepPauses& pauses = run.worker().pauses;
    if (run.run().kind == StepKind::Request || isStartUp(run.worker())) return;
    Finding* found = run.add(run.perStep(pauses.idleNs), minShare, nullptr);
    if (found == nullptr) return;
    // Such a pause is no part of the step, and may be longer.
    found->share =
        static_cast<double>(found->maxGainNs) / static_cast<double>(run.mean().meanNs + run.perStep(pauses.ns));
    found->countPerStep = static_cast<double>(pauses.count) / run.stepCount();
    found->atNs = pauses.longestStartNs;
    if (const Contributor* main = mainOfPauses(run.worker())) {
        found->contributor = main->name;
        found->path = main->path;
    }
}

/// Returns " The longest pause takes 1.268 s, before step 33."
std::string longestPauseText(const FindingText& text) {
    const StepPauses& all = text.worker().pauses;
    const std::vector<StepSummary>& steps = text.worker().steps;
    const auto next = std::ranges::upper_bound(steps, all.longestStartNs, {}, &StepSummary::startNs);
    return fmt::format(" The longest pause takes {}{}.", timeText(static_cast<double>(all.longestNs)),
                       next == steps.end() ? "" : fmt::format(", before {} {}", text.unit(), next->number));
}

std::string sayIdleBetweenSteps(const FindingText& text) {
    const StepPauses& all = text.worker().pauses;
    const std::string where = text.finding().contributor.empty() ? "" : ": mostly " + text.main();
    const std::string_view many = all.count == 1 ? "" : "s";
    const auto every = static_cast<double>(text.worker().steps.size()) / static_cast<double>(all.count);
    const std::string which = all.count == 1 ? fmt::format("one pause between {}s", text.unit())
                              : every >= 2   ? fmt::format("{} pauses between {}s, one every {:.0f} {}s", all.count,
                                                           text.unit(), every, text.unit())
                                             : fmt::format("{} pauses between {}s", all.count, text.unit());
    return fmt::format("The GPU has no work for {} in {}, {} of the time of {}s and pause{}{}.{}{}",
                       timeText(static_cast<double>(all.idleNs)), which, shareText(text.finding().share), text.unit(),
                       many, where, text.place(), all.count == 1 ? "" : longestPauseText(text)) +
           recompiledSentence(text.worker());
}

std::optional<TimeRange> longestPause(const RunSummary& run, const Finding& finding) {
    const StepPauses& pauses = run.workers[finding.worker].pauses;
    return TimeRange{pauses.longestStartNs, pauses.longestStartNs + pauses.longestNs};
}

}  // namespace

const Rule oddStepsRule{
    .id = "odd_steps",
    .title = "Some steps are far longer",
    .finds = "Steps far longer than the others cost at least 3 % of the mean step.",
    .advice = "Inspect one of them: what runs only there?",
    .find = findOddSteps,
    .say = sayOddSteps,
    .evidence = oddStepsEvidence,
    .advise = [](const FindingText& text) { return text.adviseCause(oddStepsRule.advice); },
    .longerPart = longerPartOfOddSteps,
    .order = putCausesBeforeOddSteps,
    .isForNcclOnly = true,
};

const Rule stepPatternRule{
    .id = "step_pattern",
    .title = "Some steps are longer",
    .finds =
        "Some steps of a rank take longer in an order (every third, from one on, ever longer) and cost at least 2 % of "
        "the mean step.",
    .advice =
        "Compare one of these steps with a neighbour. Find work that runs only in these steps, or only since the "
        "change.",
    .find = findStepPattern,
    .say = sayStepPattern,
    .evidence = patternEvidence,
    .advise = adviseStepPattern,
    .longerPart = longerPartOfPattern,
    .order = orderStepPattern,
    .isForNcclOnly = true,
    .namesWorker = true,
};

const Rule idleBetweenStepsRule{
    .id = "idle_between_steps",
    .title = "GPU idle between steps",
    .finds =
        "The GPU has no work for at least 3 % of the step between steps, as around evaluations and checkpoints, or "
        "where code is loaded at first use.",
    .advice = "Do less there, do it less often, or on another thread or process in parallel with the steps.",
    .find = findIdleBetweenSteps,
    .say = sayIdleBetweenSteps,
    .evidence = pausesEvidence,
    .advise = adviseIdleBetweenSteps,
    .place = longestPause,
    .isBetweenSteps = true,
};

}  // namespace lanescope::explain
