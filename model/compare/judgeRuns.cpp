// SPDX-License-Identifier: Apache-2.0
#include "model/compare/judgeRuns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

constexpr int orders = 999;
constexpr double changeThreshold = 0.025;
constexpr double minChangePercent = 1;

struct Split {
    size_t first = 0;
    double distance = 0;  ///< Squared distance of the sum from its line; over n1 n2 / n.
};

/// Returns the split with the largest difference of the two means. `logs` has the mean 0.
Split furthestSplit(std::span<const double> logs) {
    const auto all = static_cast<double>(logs.size());
    Split furthest;
    double sum = 0;
    for (size_t before = 1; before + minValuesPerSide <= logs.size(); ++before) {
        sum += logs[before - 1];
        if (before < minValuesPerSide) continue;
        const auto count = static_cast<double>(before);
        const double distance = sum * sum * all / (count * (all - count));
        if (distance > furthest.distance) furthest = {before, distance};
    }
    return furthest;
}

/// The shuffles of standard libraries differ.
void shuffle(std::vector<double>& values, std::mt19937_64& random) {
    for (size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[random() % left]);
}

std::vector<double> logsOf(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
}

double meanLogOf(std::span<const double> values) {
    return sumOf(values, [](double value) { return std::log(value); }) / static_cast<double>(values.size());
}

double percentBetween(std::span<const double> before, std::span<const double> after) {
    return 100 * std::expm1(meanLogOf(after) - meanLogOf(before));
}

std::optional<ChangePoint> changeIn(std::span<const double> values) {
    if (values.size() < 2 * minValuesPerSide) return std::nullopt;
    std::vector<double> logs = logsOf({values.begin(), values.end()});
    const double mean = meanLogOf(values);
    for (double& log : logs) log -= mean;
    const Split found = furthestSplit(logs);
    if (found.first == 0) return std::nullopt;
    ChangePoint point{found.first, percentBetween(values.first(found.first), values.subspan(found.first)), 1};
    if (std::abs(point.percent) < minChangePercent) return std::nullopt;
    std::mt19937_64 random(values.size());
    // Rounding errors must not make an equal distance smaller.
    const double reached = found.distance * (1 - 1e-9);
    int asFar = 1;
    for (int order = 0; order < orders; ++order) {
        shuffle(logs, random);
        if (furthestSplit(logs).distance >= reached) ++asFar;
        point.pValue = static_cast<double>(asFar) / (orders + 1);
        if (point.pValue >= changeThreshold) return std::nullopt;
    }
    return point;
}

constexpr double significant = 0.01;
constexpr double minShareOfMedian = 0.01;  ///< Relevant share of the baseline's median.

double medianOfPart(std::span<const int64_t> values, size_t from, size_t to) {
    return quantileOf(values.subspan(from, to - from), 0.5);
}

/// Returns the spread of the run's own steps, which the other run must exceed to differ.
double spreadWithin(std::span<const int64_t> wallNs) {
    const double halfRange = (quantileOf(wallNs, 0.75) - quantileOf(wallNs, 0.25)) / 2;
    const size_t middle = wallNs.size() / 2;
    const double drift = std::abs(medianOfPart(wallNs, middle, wallNs.size()) - medianOfPart(wallNs, 0, middle));
    return std::max(halfRange, drift);
}

constexpr double confidence = 0.95;
constexpr double seenDrift = 0.1;  ///< A slope with a smaller p value is a drift.
constexpr double power = 0.8;      ///< Probability of detecting the smallest visible change.

struct Sample {
    double mean = 0;
    double squares = 0;  ///< Sum of squared distances from the mean.
    int64_t count = 0;
};

Sample sampleOf(std::span<const double> values) {
    Sample sample;
    for (const double value : values) {
        const double distance = value - sample.mean;
        sample.mean += distance / static_cast<double>(++sample.count);
        sample.squares += distance * (value - sample.mean);
    }
    return sample;
}

/// Sum of the products of the distances from both means.
double productsOf(std::span<const double> values, const Sample& ofValues, std::span<const double> turns,
                  const Sample& ofTurns) {
    double sum = 0;
    for (size_t run = 0; run < values.size(); ++run) sum += (values[run] - ofValues.mean) * (turns[run] - ofTurns.mean);
    return sum;
}

/// Returns true if a slope is more than chance.
bool isDrift(double slope, double error, int64_t freedom) {
    if (!(error > 0)) return slope != 0;
    return studentTWithin(std::abs(slope) / error, freedom) > 1 - seenDrift;
}

int64_t freedomIn(const std::vector<double>& runs) {
    return std::max<int64_t>(0, static_cast<int64_t>(runs.size()) - 1);
}

double percentOfLog(double log) { return 100 * std::expm1(log); }

/// Returns the spread of the side with runs farther apart, in percent of its minimum; nullopt for one run per side.
std::optional<double> spreadPercent(const RunMedians& medians) {
    std::optional<double> most;
    for (const std::vector<double>* runs : {&medians.baseline, &medians.candidate}) {
        if (runs->size() < 2) continue;
        const auto [least, greatest] = std::minmax_element(runs->begin(), runs->end());
        most = std::max(most.value_or(0), 100 * (*greatest / *least - 1));
    }
    return most;
}

/// Minimum share of the step of a part that is judged. Smaller parts can hardly change by a relevant amount.
constexpr double minShareOfStep = minRelevantPercent / 100 / 2;
constexpr size_t maxPaths = 8;
constexpr double weightOfStep = 0.5;

struct Quantity {
    QuantityClaim claim;
    RunMedians numbers;
};

RunMedians numbersOf(const JudgedRuns& runs, const auto& numberOf) {
    RunMedians numbers;
    const auto add = [&](const WorkerRuns& workers, std::vector<double>& values) {
        for (const WorkerSummary* worker : workers) values.push_back(numberOf(*worker));
    };
    add(runs.baseline, numbers.baseline);
    add(runs.candidate, numbers.candidate);
    add(runs.earlier, numbers.spread);
    numbers.baselineTurns = runs.baselineTurns;
    numbers.candidateTurns = runs.candidateTurns;
    return numbers;
}

double medianOfSteps(const WorkerSummary& worker, const auto& nsOf) {
    const std::vector<int64_t> ns = mapped(worker.steps, nsOf);
    return quantileOf(ns, 0.5);
}

/// Returns the mean over all runs of both sides, which is independent of their difference.
double meanOf(const RunMedians& numbers) {
    double sum = 0;
    for (const std::vector<double>* values : {&numbers.baseline, &numbers.candidate})
        for (const double value : *values) sum += value;
    return sum / static_cast<double>(numbers.baseline.size() + numbers.candidate.size());
}

/// Returns true if the spread of such runs is known from the numbers. The spread of something that
/// a single run does, for far longer than any other run, is unknown.
bool isSpreadKnown(const RunMedians& numbers) {
    constexpr double alike = 2;
    const auto greatest = [](const std::vector<double>& values) {
        return values.empty() ? 0.0 : *std::ranges::max_element(values);
    };
    const auto isOfOthers = [&](const std::vector<double>& side, const std::vector<double>& other) {
        const double several = std::max(other.size() > 1 ? greatest(other) : 0.0, greatest(numbers.spread));
        return side.size() > 1 || greatest(side) <= alike * several;
    };
    return isOfOthers(numbers.baseline, numbers.candidate) && isOfOthers(numbers.candidate, numbers.baseline);
}

using IdleByPath = std::map<std::string, double>;

/// Returns idle times in the mean step.
IdleByPath idleByPath(const WorkerSummary& worker) {
    IdleByPath idle;
    for (const Contributor& each : worker.contributors)
        if (each.kind == ContributorKind::Idle && !each.path.empty())
            idle[each.path] += static_cast<double>(each.exposedNs) / static_cast<double>(worker.steps.size());
    return idle;
}

std::vector<Quantity> partsOf(const JudgedRuns& runs, double minJudgedNs) {
    StepParts all;
    for (const WorkerRuns* side : {&runs.baseline, &runs.candidate})
        for (const WorkerSummary* worker : *side) all += worker->totalParts();
    std::vector<Quantity> found;
    for (size_t index = 0; index < stepPartCount; ++index) {
        if (all.ns[index] == 0) continue;  // most parts are empty in all steps
        Quantity one;
        one.claim.part = static_cast<StepPart>(index);
        one.numbers = numbersOf(runs, [&](const WorkerSummary& worker) {
            return medianOfSteps(worker, [&](const StepSummary& step) { return step.parts[one.claim.part]; });
        });
        if (meanOf(one.numbers) >= minJudgedNs && isSpreadKnown(one.numbers)) found.push_back(std::move(one));
    }
    return found;
}

std::vector<Quantity> pathsOf(const JudgedRuns& runs, double minJudgedNs) {
    std::map<const WorkerSummary*, IdleByPath> idle;
    std::map<std::string, double> all;
    for (const WorkerRuns* side : {&runs.baseline, &runs.candidate, &runs.earlier})
        for (const WorkerSummary* worker : *side)
            for (const auto& [path, ns] : idle.try_emplace(worker, idleByPath(*worker)).first->second) all[path] += ns;
    std::vector<Quantity> found;
    for (const auto& each : all) {
        const std::string& path = each.first;
        Quantity one;
        one.claim.kind = QuantityKind::IdleInRange;
        one.claim.path = path;
        one.numbers =
            numbersOf(runs, [&](const WorkerSummary& worker) { return valueOr(idle.at(&worker), path, 0.0); });
        if (meanOf(one.numbers) >= minJudgedNs && isSpreadKnown(one.numbers)) found.push_back(std::move(one));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), [](const Quantity& each) { return meanOf(each.numbers); });
    if (found.size() > maxPaths) found.resize(maxPaths);
    return found;
}

void judge(Quantity& one) {
    const GroupDifference found = differenceOf(one.numbers);
    const double reach = found.reach();
    one.claim.baselineNs = found.baseline;
    one.claim.differenceNs = found.difference;
    one.claim.lowNs = found.difference - reach;
    one.claim.highNs = found.difference + reach;
    one.claim.pValue = found.pValue();
}

/// Returns the outcome of a claim of runs by its `adjustedPValue`.
Outcome outcomeOfRuns(const Claim& claim) {
    const bool isSeen =
        claim.adjustedPValue < runsSignificanceThreshold && std::abs(claim.percent) >= minRelevantPercent;
    if (!isSeen) return Outcome::WithinNoise;
    return claim.percent > 0 ? Outcome::Slower : Outcome::Faster;
}

}  // namespace

std::optional<ChangePoint> latestChange(std::span<const double> values) {
    const std::optional<ChangePoint> found = changeIn(values);
    if (!found) return std::nullopt;
    if (std::optional<ChangePoint> later = latestChange(values.subspan(found->first))) {
        later->first += found->first;
        return later;
    }
    // There may be several levels before the change; it changed from the last of them.
    const auto before = values.first(found->first);
    const std::optional<ChangePoint> earlier = latestChange(before);
    ChangePoint point = *found;
    if (earlier) point.percent = percentBetween(before.subspan(earlier->first), values.subspan(point.first));
    return point;
}

Stretch levelOf(size_t count, const std::optional<ChangePoint>& change, size_t fewest) {
    if (change && count >= change->first + fewest) return {change->first, count};
    if (change && change->first >= fewest) return {0, std::min(change->first, count)};
    return {0, count};
}

StepDistribution distributionOf(std::span<const int64_t> wallNs) {
    StepDistribution spread;
    if (wallNs.empty()) return spread;
    spread.count = static_cast<int64_t>(wallNs.size());
    const int64_t sum = std::accumulate(wallNs.begin(), wallNs.end(), int64_t{0});
    spread.meanNs = sum / spread.count + (sum % spread.count * 2 >= spread.count ? 1 : 0);
    spread.medianNs = quantileOf(wallNs, 0.5);
    spread.p95Ns = quantileOf(wallNs, 0.95);
    spread.firstQuartileNs = quantileOf(wallNs, 0.25);
    spread.thirdQuartileNs = quantileOf(wallNs, 0.75);
    spread.minimumNs = *std::ranges::min_element(wallNs);
    spread.maximumNs = *std::ranges::max_element(wallNs);
    return spread;
}

StepDistribution stepsOf(const WorkerSummary& worker) { return distributionOf(worker.wallTimes()); }

Claim judgeSteps(std::span<const int64_t> baselineNs, std::span<const int64_t> candidateNs) {
    Claim claim;
    if (baselineNs.empty() || candidateNs.empty()) return claim;
    const double medianNs = quantileOf(baselineNs, 0.5);
    claim.differenceNs = quantileOf(candidateNs, 0.5) - medianNs;
    claim.percent = medianNs > 0 ? 100 * claim.differenceNs / medianNs : 0;
    claim.outcome = Outcome::TooFewSteps;
    if (std::min(baselineNs.size(), candidateNs.size()) < static_cast<size_t>(minStepsForClaim)) return claim;
    claim.pValue = mannWhitney(baselineNs, candidateNs).pValue;
    const Interval interval = medianDifferenceInterval(baselineNs, candidateNs);
    claim.lowNs = interval.low;
    claim.highNs = interval.high;
    claim.noiseNs = std::max({minShareOfMedian * medianNs, spreadWithin(baselineNs), spreadWithin(candidateNs)});
    const bool isBeyondChance = claim.pValue < significant && (interval.low > 0 || interval.high < 0);
    const bool isBeyondNoise = std::abs(claim.differenceNs) > claim.noiseNs;
    claim.outcome = !isBeyondChance || !isBeyondNoise ? Outcome::Alike
                    : claim.differenceNs > 0          ? Outcome::Longer
                                                      : Outcome::Shorter;
    return claim;
}

int64_t freedomOf(const RunMedians& medians) {
    return freedomIn(medians.baseline) + freedomIn(medians.candidate) + freedomIn(medians.spread) -
           (medians.baselineTurns.empty() ? 0 : 1);
}

double GroupDifference::reach() const { return studentTFor(confidence, freedom) * error; }

double GroupDifference::pValue() const {
    if (error > 0) return 1 - studentTWithin(std::abs(difference) / error, freedom);
    return difference == 0 ? 1 : 0;
}

GroupDifference differenceOf(const RunMedians& numbers) {
    const Sample before = sampleOf(numbers.baseline), after = sampleOf(numbers.candidate);
    GroupDifference found{
        .baseline = before.mean, .difference = after.mean - before.mean, .freedom = freedomOf(numbers)};
    double squares = before.squares + after.squares + sampleOf(numbers.spread).squares;
    double factor = 1 / static_cast<double>(before.count) + 1 / static_cast<double>(after.count);
    auto distances = static_cast<double>(found.freedom);  // terms in the sum `squares`, less the means
    if (!numbers.baselineTurns.empty()) {
        const Sample first = sampleOf(numbers.baselineTurns);
        const Sample second = sampleOf(numbers.candidateTurns);
        const double turns = first.squares + second.squares;
        const double products = productsOf(numbers.baseline, before, numbers.baselineTurns, first) +
                                productsOf(numbers.candidate, after, numbers.candidateTurns, second);
        const double slope = products / turns, turnDistance = second.mean - first.mean;
        const double left = std::max(0.0, squares - slope * products);
        if (isDrift(slope, std::sqrt(left / static_cast<double>(found.freedom) / turns), found.freedom)) {
            found.difference -= slope * turnDistance;
            squares = left;
            factor += turnDistance * turnDistance / turns;
        } else {
            ++distances;
        }
    }
    found.error = std::sqrt(squares / distances * factor);
    return found;
}

Claim judgeRuns(const RunMedians& medians, double weight) {
    RunMedians logs = medians;
    for (std::vector<double>* runs : {&logs.baseline, &logs.candidate, &logs.spread}) *runs = logsOf(std::move(*runs));
    const GroupDifference found = differenceOf(logs);
    const double reach = found.reach();
    const double medianNs = std::exp(found.baseline);

    Claim claim{.unit = ClaimUnit::Runs,
                .baselineRuns = static_cast<int64_t>(medians.baseline.size()),
                .candidateRuns = static_cast<int64_t>(medians.candidate.size()),
                .spreadRuns = static_cast<int64_t>(medians.spread.size())};
    claim.percent = percentOfLog(found.difference);
    claim.lowPercent = percentOfLog(found.difference - reach);
    claim.highPercent = percentOfLog(found.difference + reach);
    // One-sided for the power: a change in the other direction is not the one tested for.
    claim.visiblePercent = percentOfLog((studentTFor(1 - weight * runsSignificanceThreshold, found.freedom) +
                                         studentTFor(2 * power - 1, found.freedom)) *
                                        found.error);
    claim.spreadPercent = spreadPercent(medians);
    claim.areAlternating = !medians.baselineTurns.empty();
    claim.differenceNs = medianNs * claim.percent / 100;
    claim.lowNs = medianNs * claim.lowPercent / 100;
    claim.highNs = medianNs * claim.highPercent / 100;
    claim.noiseNs = medianNs * minRelevantPercent / 100;
    claim.pValue = claim.adjustedPValue = found.pValue();
    claim.outcome = outcomeOfRuns(claim);
    return claim;
}

void judgeParts(const JudgedRuns& runs, WorkerComparison& pair) {
    const RunMedians steps = numbersOf(runs, [](const WorkerSummary& worker) {
        return std::max(1.0, medianOfSteps(worker, [](const StepSummary& step) { return step.wallNs; }));
    });
    const double minJudgedNs = std::max(1.0, minShareOfStep * meanOf(steps));
    std::vector<Quantity> parts = partsOf(runs, minJudgedNs), paths = pathsOf(runs, minJudgedNs);
    const auto kinds = static_cast<double>((parts.empty() ? 0 : 1) + (paths.empty() ? 0 : 1));
    const double stepWeight = kinds > 0 ? weightOfStep : 1;
    pair.claim = judgeRuns(steps, stepWeight);
    std::vector<WeightedTest> tests{{pair.claim.pValue, stepWeight}};
    pair.quantities.clear();
    for (std::vector<Quantity>* group : {&parts, &paths}) {
        for (Quantity& one : *group) {
            judge(one);
            tests.push_back({one.claim.pValue, (1 - weightOfStep) / kinds / static_cast<double>(group->size())});
            pair.quantities.push_back(std::move(one.claim));
        }
    }
    const std::vector<double> adjusted = holmAdjusted(tests);
    pair.claim.adjustedPValue = adjusted.front();
    pair.claim.outcome = outcomeOfRuns(pair.claim);
    for (size_t index = 0; index < pair.quantities.size(); ++index) {
        QuantityClaim& claim = pair.quantities[index];
        claim.adjustedPValue = adjusted[index + 1];
        claim.isCertain =
            claim.adjustedPValue < runsSignificanceThreshold && std::abs(claim.differenceNs) >= pair.claim.noiseNs;
    }
}

double reachPercent(const Claim& claim) { return (claim.highPercent - claim.lowPercent) / 2; }

bool areEnough(std::span<const Claim> rounds) {
    constexpr size_t inARow = 2;
    if (rounds.size() < inARow) return false;
    return std::ranges::all_of(rounds.last(inARow), [](const Claim& claim) {
        return claim.unit == ClaimUnit::Runs && std::min(claim.baselineRuns, claim.candidateRuns) >= minRunsToStop &&
               reachPercent(claim) <= maxReachPercent;
    });
}

}  // namespace lanescope::compare
