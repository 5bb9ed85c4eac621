// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/analysis/shownNumbers.h"
#include "model/compare/answer.h"
#include "model/compare/comparePrograms.h"
#include "model/compare/judgeRuns.h"
#include "model/compare/matchContributors.h"
#include "model/numbers/Statistics.h"
#include "model/trace/counterReadings.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

std::string ownerOf(const Trace& trace, const CounterSeries& counter) {
    std::string owner;
    const auto add = [&owner](const std::string& part) { owner += (owner.empty() ? "" : ", ") + part; };
    if (counter.gpu < trace.gpus.size()) add(fmt::format("GPU {}", trace.gpus[counter.gpu].id));
    if (counter.process < trace.processes.size()) {
        const Process& process = trace.processes[counter.process];
        add(process.rank ? fmt::format("rank {}", *process.rank) : process.name);
    }
    if (counter.link >= 0) add(fmt::format("link {}", counter.link));
    if (counter.core >= 0) add(fmt::format("core {}", counter.core));
    if (!counter.device.empty()) add(counter.device);
    return owner;
}

CounterAmount amountIn(const Trace& trace, uint32_t counter, TimeRange range) {
    const CounterSeries& series = trace.counters[counter];
    CounterAmount amount;
    double weighted = 0;
    double heldNs = 0;
    for (uint32_t sample = firstInEffectAfter(series, range.startNs);
         sample < series.size() && series.timeNs(sample) < range.endNs; ++sample) {
        const double value = series.value(sample);
        const TimeRange held = series.rangeOf(sample).intersected(range);
        if (std::isnan(value) || held.isEmpty()) continue;
        if (!amount.hasValue || value > amount.maximum) amount.highest = trace.sampleEvent(counter, sample);
        amount.maximum = amount.hasValue ? std::max(amount.maximum, value) : value;
        amount.minimum = amount.hasValue ? std::min(amount.minimum, value) : value;
        amount.hasValue = true;
        weighted += value * double(held.durationNs());
        heldNs += double(held.durationNs());
    }
    if (heldNs > 0) amount.mean = weighted / heldNs;
    return amount;
}

int64_t countOf(const WorkerSummary& worker) { return static_cast<int64_t>(worker.steps.size()); }

ContributorShare shareOf(const Contributor& contributor, int64_t steps) {
    ContributorShare share{.name = contributor.name};
    if (steps <= 0) return share;
    share.totalNs = contributor.totalNs / steps;
    share.count = static_cast<double>(contributor.count) / static_cast<double>(steps);
    share.bytes = contributor.bytes / steps;
    const bool isCollective = contributor.kind == ContributorKind::Collective;
    const int64_t moved = isCollective ? contributor.busBytes : contributor.bytes;
    const bool isMeasured = isCollective || contributor.kind == ContributorKind::Copy;
    if (isMeasured && contributor.totalNs > 0)
        share.gigabytesPerSecond = static_cast<double>(moved) / static_cast<double>(contributor.totalNs);
    return share;
}

bool standsBefore(const ContributorDifference& a, const ContributorDifference& b) {
    const auto key = [](const ContributorDifference& each) {
        return std::tuple(each.part, -each.lostNs(), -each.candidate.exposedNs);
    };
    return key(a) != key(b) ? key(a) < key(b) : std::pair(a.name().text(), a.path) < std::pair(b.name().text(), b.path);
}

std::vector<ContributorDifference> contributorDifferences(const WorkerSummary& baseline, const WorkerSummary& candidate,
                                                          const MeanStep& before, const MeanStep& after,
                                                          const std::vector<ContributorMatch>& matches) {
    std::vector<ContributorDifference> differences;
    const auto side = [](const WorkerSummary& worker, const MeanStep& mean, uint32_t index) {
        if (index == noIndex) return ContributorShare{};
        ContributorShare share = shareOf(worker.contributors[index], countOf(worker));
        share.exposedNs = mean.exposedNs[index];
        return share;
    };
    for (const ContributorMatch& match : matches) {
        ContributorDifference difference{.match = match.kind};
        const Contributor& known = match.candidate != noIndex ? candidate.contributors[match.candidate]
                                                              : baseline.contributors[match.baseline];
        difference.part = known.part;
        difference.kind = known.kind;
        difference.path = known.path;
        difference.baseline = side(baseline, before, match.baseline);
        difference.candidate = side(candidate, after, match.candidate);
        differences.push_back(std::move(difference));
    }
    std::ranges::sort(differences, standsBefore);
    return differences;
}

std::vector<RangeDifference> rangeDifferences(const std::vector<ContributorDifference>& contributors) {
    std::map<std::pair<std::string, StepPart>, RangeDifference> byRange;
    for (const ContributorDifference& each : contributors) {
        RangeDifference& range = byRange[{each.path, each.part}];
        range.path = each.path;
        range.part = each.part;
        range.baselineNs += each.baseline.exposedNs;
        range.candidateNs += each.candidate.exposedNs;
    }
    std::vector<RangeDifference> ranges;
    for (auto& [key, range] : byRange) ranges.push_back(std::move(range));
    std::ranges::stable_sort(ranges, std::ranges::greater(), [](const auto& each) { return each.lostNs(); });
    return ranges;
}

/// A waiting thread is seen to sleep in one run and to wait for a lock in another. Idle causes that
/// differ only in the state of the thread are merged, unless both sides have the same set of them.
using CauseKey = std::tuple<StepPart, IdleCause, std::string>;

CauseKey causeKey(const Contributor& idle) { return {idle.part, idle.name.idle.withoutState(), idle.path}; }

/// Returns the causes whose states differ between both sides.
std::set<CauseKey> causesOfOtherStates(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    std::map<CauseKey, std::array<std::set<IdleCause>, 2>> causes;
    for (const auto& [side, worker] : {std::pair(0U, &baseline), std::pair(1U, &candidate)})
        for (const Contributor& each : worker->contributors)
            if (each.kind == ContributorKind::Idle) causes[causeKey(each)][side].insert(each.name.idle);
    std::set<CauseKey> other;
    for (const auto& [key, ofSides] : causes)
        if (ofSides[0] != ofSides[1] && !ofSides[0].empty() && !ofSides[1].empty()) other.insert(key);
    return other;
}

/// Returns the worker with each of these causes merged, at the place of its first.
WorkerSummary withOneOfEach(const std::set<CauseKey>& causes, WorkerSummary worker) {
    std::map<CauseKey, size_t> places;
    std::vector<Contributor> merged;
    for (Contributor& each : worker.contributors) {
        CauseKey key = causeKey(each);
        if (each.kind != ContributorKind::Idle || !causes.contains(key)) {
            merged.push_back(std::move(each));
            continue;
        }
        const auto [place, isFirst] = places.try_emplace(std::move(key), merged.size());
        if (isFirst) {
            each.name.idle = each.name.idle.withoutState();
            merged.push_back(std::move(each));
            continue;
        }
        Contributor& sum = merged[place->second];
        sum.count += each.count;
        sum.exposedNs += each.exposedNs;
        sum.totalNs += each.totalNs;
        sum.order = std::min(sum.order, each.order);
    }
    worker.contributors = std::move(merged);
    return worker;
}

/// Returns the use without its measured peak, or without its shapes.
ComputeUse reduced(ComputeUse use, bool keepsMeasured, bool keepsCounted) {
    if (!keepsMeasured) use.measuredPerSecond = 0;
    if (!keepsCounted) use.countedSteps = use.countedNs = use.modelPerStep = 0;
    return use;
}

/// Sets the MFU of both sides, by figures that both have.
void addMfu(const ComputeUse& baseline, const ComputeUse& candidate, WorkerComparison& pair) {
    const bool areKnown = baseline.mfu() && candidate.mfu();
    const bool keepsMeasured = !areKnown || (baseline.measuredPerSecond > 0 && candidate.measuredPerSecond > 0);
    const bool keepsCounted =
        !areKnown || (baseline.source() == MfuSource::Shapes && candidate.source() == MfuSource::Shapes);
    pair.baselineMfu = reduced(baseline, keepsMeasured, keepsCounted).mfu();
    pair.candidateMfu = reduced(candidate, keepsMeasured, keepsCounted).mfu();
}

/// Sets the times of the mean step.
void addMeanStep(const WorkerSummary& baseline, const WorkerSummary& candidate,
                 const std::vector<ContributorMatch>& matches, int64_t quantumNs, WorkerComparison& pair) {
    const MeanStep before = meanStep(baseline, quantumNs);
    const MeanStep after = meanStep(candidate, quantumNs);
    pair.baseline.meanNs = before.ns;
    pair.candidate.meanNs = after.ns;
    for (const StepPart part : allStepParts) pair.parts.push_back({part, before.parts[part], after.parts[part]});
    pair.contributors = contributorDifferences(baseline, candidate, before, after, matches);
    pair.ranges = rangeDifferences(pair.contributors);
}

using Steps = std::span<const StepSummary>;

/// Returns the steps of each run of a pooled worker: step numbers or times restart in each.
std::vector<Steps> runsOf(const WorkerSummary& worker) {
    std::vector<Steps> runs;
    const Steps all = worker.steps;
    size_t begin = 0;
    for (size_t step = 1; step <= all.size(); ++step) {
        if (step < all.size() && all[step].number > all[step - 1].number && all[step].startNs >= all[step - 1].startNs)
            continue;
        runs.push_back(all.subspan(begin, step - begin));
        begin = step;
    }
    return runs;
}

bool isSame(const StepPattern& a, const StepPattern& b) {
    return a.kind == b.kind && a.period == b.period && (a.excessNs < 0) == (b.excessNs < 0);
}

/// Returns the pattern of at least half of a worker's runs.
std::optional<StepPattern> commonPattern(const WorkerSummary& worker, size_t series) {
    const std::vector<Steps> runs = runsOf(worker);
    std::vector<StepPattern> found;
    for (const Steps run : runs)
        if (std::optional<StepPattern> pattern = patternOf(run, series)) found.push_back(std::move(*pattern));
    for (const StepPattern& pattern : found) {
        const auto alike = std::ranges::count_if(found, [&](const StepPattern& each) { return isSame(each, pattern); });
        if (2 * static_cast<size_t>(alike) >= runs.size()) return pattern;
    }
    return std::nullopt;
}

/// Sets the pattern's main contributor: the common one of its outliers, else that which changed half of its part.
void blame(PatternDifference& one, const WorkerSummary& worker, const WorkerComparison& pair) {
    const StepPattern& pattern = one.pattern;
    const OutlierStep* first = nullptr;
    bool doAgree = true;
    for (const OutlierStep& outlier : worker.outliers) {
        const bool isAffected = std::ranges::any_of(pattern.affected, [&](uint32_t step) {
            return step < worker.steps.size() && worker.steps[step].number == outlier.number;
        });
        if (!isAffected || outlier.part != pattern.part) continue;
        if (!first) first = &outlier;
        doAgree = doAgree && outlier.contributor == first->contributor && outlier.path == first->path;
    }
    if (first && doAgree) {
        one.contributor = first->contributor;
        one.path = first->path;
        return;
    }
    const int64_t sign = (pattern.costNs < 0) == one.isCandidate ? -1 : 1;
    int64_t largestNs = std::abs(pattern.costNs) / 2;
    for (const ContributorDifference& each : pair.contributors) {
        if (each.part != pattern.part || each.kind == ContributorKind::Others || each.lostNs() * sign < largestNs)
            continue;
        largestNs = each.lostNs() * sign;
        one.contributor = each.name();
        one.path = each.path;
    }
}

std::string everySoMany(int64_t period) {
    static constexpr std::array<std::string_view, 11> words{"",      "",        "second", "third", "fourth", "fifth",
                                                            "sixth", "seventh", "eighth", "ninth", "tenth"};
    if (period < static_cast<int64_t>(words.size()))
        return fmt::format("every {} step", words[static_cast<size_t>(period)]);
    return fmt::format("one step in {}", period);
}

/// "every third step of rank 2, GPU 2 takes 13.9 ms longer than the others".
std::string whatText(const PatternDifference& one) {
    const StepPattern& pattern = one.pattern;
    const std::string time = timeText(static_cast<double>(std::abs(pattern.excessNs)));
    const char* than = pattern.excessNs < 0 ? "less" : "longer";
    switch (pattern.kind) {
        case PatternKind::Period:
            return fmt::format("{} of {} takes {} longer than the other steps", everySoMany(pattern.period), one.worker,
                               time);
        case PatternKind::Level:
            return fmt::format("from step {} on, the steps of {} take {} {} than before", pattern.firstNumber,
                               one.worker, time, than);
        case PatternKind::TwoModes:
            return fmt::format("{:.0f} % of the steps of {} take {} longer than the other steps", 100 * pattern.share,
                               one.worker, time);
        case PatternKind::Drift:
            return fmt::format("the steps of {} {} by {} from the beginning of the run to its end", one.worker,
                               pattern.excessNs < 0 ? "shrink" : "grow", time);
    }
    return {};
}

std::string textOf(const PatternDifference& one) {
    const StepPattern& pattern = one.pattern;
    const std::string_view side = one.isCandidate ? "candidate" : "baseline";
    std::string text = one.otherExcessNs == 0
                           ? fmt::format("only in the {}, {}", side, whatText(one))
                           : fmt::format("in the {}, {}, in the other run by {}", side, whatText(one),
                                         timeText(static_cast<double>(std::abs(one.otherExcessNs))));
    text += fmt::format(" ({} in the mean step), largest in {}",
                        timeDifferenceText(static_cast<double>(pattern.costNs)), name(pattern.part));
    if (!one.contributor.empty())
        text += fmt::format("{} {}", isIdle(pattern.part) ? "" : ", in", shortName(one.contributor));
    if (!one.path.empty()) text += fmt::format(", in the range \"{}\"", printable(one.path));
    return text;
}

/// Returns true for a worker that waits for others in its collectives: the pattern is theirs.
bool isTheirs(const StepPattern& pattern) { return pattern.part == StepPart::ExposedCommunication; }

/// Keeps one difference of each kind: the worker's own, and the most expensive of these.
void add(PatternDifference one, std::vector<PatternDifference>& found) {
    const auto known = std::ranges::find_if(found, [&](const auto& each) {
        return each.isCandidate == one.isCandidate && isSame(each.pattern, one.pattern);
    });
    if (known == found.end()) {
        found.push_back(std::move(one));
        return;
    }
    const bool wasTheirs = isTheirs(known->pattern), areTheirs = isTheirs(one.pattern);
    const bool isCostlier = std::abs(one.pattern.costNs) > std::abs(known->pattern.costNs);
    if (wasTheirs != areTheirs ? wasTheirs : isCostlier) *known = std::move(one);
}

/// Returns the worker of `run` with that rank on its first GPU, or `noIndex`.
uint32_t workerOfRank(const RunSummary& run, std::optional<int> rank) {
    for (uint32_t index = 0; index < run.workers.size(); ++index)
        if (rank && run.workers[index].rank == rank) return index;
    return noIndex;
}

bool haveOneWorkerARank(const RunSummary& run) {
    for (uint32_t index = 0; index < run.workers.size(); ++index)
        if (workerOfRank(run, run.workers[index].rank) != index) return false;
    return true;
}

/// Returns the pair that determines the speed of both runs: that of the slower run's critical
/// worker, where that run is held up. The first pair if that worker has no counterpart.
uint32_t criticalPairOf(const std::vector<WorkerComparison>& pairs, const RunSummary& baseline,
                        const RunSummary& candidate) {
    if (pairs.empty()) return noIndex;
    const int64_t lostNs = sumOf(pairs, &WorkerComparison::lostNs);
    const uint32_t critical = lostNs >= 0 ? candidate.criticalWorker() : baseline.criticalWorker();
    for (uint32_t index = 0; index < pairs.size(); ++index)
        if ((lostNs >= 0 ? pairs[index].candidateWorker : pairs[index].baselineWorker) == critical) return index;
    return 0;
}

void addOutliers(const RunSummary& run, bool isCandidate, std::vector<RunOutlier>& outliers) {
    for (const WorkerSummary& worker : run.workers)
        for (const OutlierStep& step : worker.outliers)
            outliers.push_back({isCandidate, step.run.empty() ? worker.label() : step.run, step});
}

}  // namespace

std::vector<StepDifference> stepDifferences(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    std::vector<StepDifference> steps(std::min(baseline.steps.size(), candidate.steps.size()));
    int64_t lostNs = 0;
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepSummary& before = baseline.steps[index];
        const StepSummary& after = candidate.steps[index];
        lostNs = saturatingSum(lostNs, after.wallNs - before.wallNs);
        steps[index] = {after.number, after.name, before.startNs, before.wallNs, after.startNs, after.wallNs, lostNs};
    }
    return steps;
}

double CounterDifference::changePercent() const {
    const bool isKnown = baseline.hasValue && candidate.hasValue && baseline.mean != 0;
    return isKnown ? 100 * (candidate.mean - baseline.mean) / std::abs(baseline.mean) : 0;
}

std::vector<CounterDifference> counterDifferences(const Trace& baseline, TimeRange baselineRange,
                                                  const Trace& candidate, TimeRange candidateRange) {
    std::vector<CounterDifference> differences;
    std::vector<bool> isTaken(candidate.counters.size());
    for (uint32_t index = 0; index < baseline.counters.size(); ++index) {
        const CounterSeries& series = baseline.counters[index];
        CounterDifference difference{.name = series.name, .owner = ownerOf(baseline, series), .unit = series.unit};
        for (uint32_t other = 0; other < candidate.counters.size(); ++other) {
            const CounterSeries& counterpart = candidate.counters[other];
            if (isTaken[other] || counterpart.name != series.name || counterpart.source != series.source ||
                counterpart.unit != series.unit || ownerOf(candidate, counterpart) != difference.owner)
                continue;
            isTaken[other] = true;
            difference.baseline = amountIn(baseline, index, baselineRange);
            difference.candidate = amountIn(candidate, other, candidateRange);
            break;
        }
        if (difference.baseline.hasValue && difference.candidate.hasValue) differences.push_back(std::move(difference));
    }
    std::ranges::stable_sort(differences, std::ranges::greater(),
                             [](const auto& each) { return std::abs(each.changePercent()); });
    return differences;
}

/// Comparison of a pair of workers, without its place in the runs: with shown times of the mean step, and exact ones.
struct ComparedWorkers {
    WorkerComparison shown, exact;
};

std::vector<PathDifference> pathDifferences(const std::vector<PathTime>& before, const std::vector<PathTime>& after) {
    std::vector<PathDifference> path;
    if (before.empty() || after.empty()) return path;
    for (const PathTime& each : before) path.push_back({each, each.ns, {}});
    for (const PathTime& each : after) {
        const auto found = std::ranges::find_if(path, [&](const PathDifference& one) {
            return !one.candidateNs && std::tie(one.part.part, one.part.rank, one.part.name, one.part.line) ==
                                           std::tie(each.part, each.rank, each.name, each.line);
        });
        PathDifference& same = found == path.end() ? path.emplace_back(PathDifference{each, {}, {}}) : *found;
        same.candidateNs = each.ns;
    }
    std::ranges::stable_sort(path, std::ranges::greater(), [](const auto& each) { return std::abs(each.lostNs()); });
    return path;
}

/// Compares a worker with its counterpart. O(n log n), and quadratic in renamed kernels.
ComparedWorkers compareWorkers(const WorkerSummary& ofBaseline, const WorkerSummary& ofCandidate) {
    const std::set<CauseKey> causes = causesOfOtherStates(ofBaseline, ofCandidate);
    const WorkerSummary baseline = withOneOfEach(causes, ofBaseline);
    const WorkerSummary candidate = withOneOfEach(causes, ofCandidate);
    WorkerComparison pair{.baselineLabel = baseline.label(), .candidateLabel = candidate.label()};
    const std::vector<int64_t> before = baseline.wallTimes();
    const std::vector<int64_t> after = candidate.wallTimes();
    pair.baseline = distributionOf(before);
    pair.candidate = distributionOf(after);
    addMfu(baseline.use, candidate.use, pair);
    pair.claim = judgeSteps(before, after);
    // Steps that take no time measure nothing (`timelessSentence`).
    const auto isTimeless = [](const StepDistribution& steps) { return steps.count > 0 && steps.medianNs <= 0; };
    if (isTimeless(pair.baseline) || isTimeless(pair.candidate)) pair.claim.outcome = Outcome::Nothing;
    pair.scale = DurationScale::ofStep(before.empty() ? pair.candidate.meanNs : pair.baseline.meanNs);
    const std::vector<ContributorMatch> matches =
        matchContributors(baseline.contributors, candidate.contributors, countOf(baseline), countOf(candidate));
    pair.path = pathDifferences(baseline.path, candidate.path);
    ComparedWorkers compared{pair, pair};
    addMeanStep(baseline, candidate, matches, pair.scale.quantumNs(), compared.shown);
    addMeanStep(baseline, candidate, matches, 1, compared.exact);
    return compared;
}

/// Returns the patterns of steps (`patternOf`) that one side has and the other lacks, or has less than half as much of.
/// Medians do not show them. With several runs per side, patterns of at least half of them. One for each kind and
/// period, of the worker where it is no wait for other ranks; most expensive first, in words. O(n log n) in the steps.
std::vector<PatternDifference> patternDifferences(const std::vector<WorkerComparison>& pairs,
                                                  const RunSummary& baseline, const RunSummary& candidate) {
    std::vector<PatternDifference> found;
    for (uint32_t index = 0; index < pairs.size(); ++index) {
        const WorkerComparison& pair = pairs[index];
        const WorkerSummary& before = baseline.workers[pair.baselineWorker];
        const WorkerSummary& after = candidate.workers[pair.candidateWorker];
        const std::optional<StepPattern> old = commonPattern(before, pairs.size());
        const std::optional<StepPattern> now = commonPattern(after, pairs.size());
        const auto tell = [&](const std::optional<StepPattern>& own, const std::optional<StepPattern>& other,
                              bool isCandidate) {
            if (!own) return;
            PatternDifference one{.isCandidate = isCandidate,
                                  .pair = index,
                                  .worker = isCandidate ? pair.candidateLabel : pair.baselineLabel,
                                  .pattern = *own};
            if (other && isSame(*own, *other)) one.otherExcessNs = other->excessNs;
            if (2 * std::abs(one.otherExcessNs) >= std::abs(own->excessNs)) return;
            blame(one, isCandidate ? after : before, pair);
            add(std::move(one), found);
        };
        tell(now, old, true);
        tell(old, now, false);
    }
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const auto& each) { return std::abs(each.pattern.costNs); });
    for (PatternDifference& one : found) one.text = textOf(one);
    return found;
}

std::vector<WorkerPair> workerPairs(const RunSummary& baseline, const RunSummary& candidate) {
    std::vector<WorkerPair> pairs;
    if (haveOneWorkerARank(baseline) && haveOneWorkerARank(candidate)) {
        for (uint32_t index = 0; index < candidate.workers.size(); ++index) {
            const uint32_t other = workerOfRank(baseline, candidate.workers[index].rank);
            if (other != noIndex) pairs.push_back({other, index});
        }
    }
    if (!pairs.empty()) return pairs;
    const size_t count = std::min(baseline.workers.size(), candidate.workers.size());
    for (uint32_t index = 0; index < count; ++index) pairs.push_back({index, index});
    return pairs;
}

std::string_view name(Outcome outcome) {
    return enumText(outcome, {"nothing", "too few steps", "steps alike", "longer steps", "shorter steps",
                              "within run-to-run spread", "slower", "faster", "parts changed"});
}

std::string_view identifier(Outcome outcome) {
    return enumText(outcome, {"nothing", "too_few_steps", "alike", "longer", "shorter", "within_noise", "slower",
                              "faster", "parts_changed"});
}

std::string_view identifier(ClaimUnit unit) { return unit == ClaimUnit::Runs ? "runs" : "steps"; }

std::string_view identifier(QuantityKind kind) { return kind == QuantityKind::Part ? "part" : "idle_in_range"; }

std::string_view name(MatchKind kind) {
    return enumText(kind, {"same name", "same position", "only in baseline", "only in candidate"});
}

std::string_view identifier(MatchKind kind) {
    return enumText(kind, {"same_name", "same_position", "only_baseline", "only_candidate"});
}

const ContributorName& ContributorDifference::name() const {
    return match == MatchKind::OnlyBaseline ? baseline.name : candidate.name;
}

void answer(RunComparison& comparison, const RunSummary& baseline, const RunSummary& candidate) {
    comparison.answer = answerOf(comparison, baseline, candidate);
    comparison.answer.cautions = cautionsOf(baseline, candidate);
    writeAnswer(comparison, baseline, candidate);
    // It may be the whole explanation, so it precedes the verdict.
    const auto differences = machineDifferences(baseline.facts, candidate.facts);
    if (differences.empty() || comparison.answer.outcome == Outcome::Nothing) return;
    const std::string first = fmt::format("The machines differ ({}). ", fmt::join(differences, ", "));
    comparison.answer.sentence.insert(0, first);
    comparison.answer.clauses.insert(comparison.answer.clauses.begin(), Clause{first});
}

RunComparison compareRuns(BaselineRun baseline, CandidateRun candidate) {
    const RunSummary& before = baseline.summary;
    const RunSummary& after = candidate.summary;
    RunComparison comparison{.baseline = before.facts,
                             .candidate = after.facts,
                             .baselineSource = before.source,
                             .candidateSource = after.source,
                             .baselinePattern = before.pattern,
                             .candidatePattern = after.pattern};
    for (const WorkerPair& pair : workerPairs(before, after)) {
        ComparedWorkers workers = compareWorkers(before.workers[pair.baseline], after.workers[pair.candidate]);
        for (WorkerComparison* each : {&workers.shown, &workers.exact}) {
            each->baselineWorker = pair.baseline;
            each->candidateWorker = pair.candidate;
        }
        comparison.workers.push_back(std::move(workers.shown));
        comparison.exact.push_back(std::move(workers.exact));
    }
    comparison.critical = criticalPairOf(comparison.exact, before, after);
    addOutliers(before, false, comparison.outliers);
    addOutliers(after, true, comparison.outliers);
    std::ranges::stable_sort(comparison.outliers, std::ranges::greater(),
                             [](const RunOutlier& each) { return each.step.excessNs; });
    comparison.patterns = patternDifferences(comparison.workers, before, after);
    answer(comparison, before, after);
    return comparison;
}

}  // namespace lanescope::compare
