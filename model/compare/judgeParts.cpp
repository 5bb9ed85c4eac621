// SPDX-License-Identifier: Apache-2.0
#include "model/compare/judgeParts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/compare/judgeRuns.h"
#include "model/values/holm.h"
#include "model/values/significance.h"

namespace lanescope::compare {

namespace {

/// Of the step: what is less can hardly change by what anyone cares about.
constexpr double smallestShare = smallestPercentOfStep / 100 / 2;
constexpr size_t mostPaths = 8;
constexpr double weightOfStep = 0.5;

struct Quantity {
    QuantityClaim claim;
    RunMedians numbers;
};

template <class NumberOf>
RunMedians numbersOf(const JudgedRuns& runs, const NumberOf& numberOf) {
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

template <class NsOf>
double medianOfSteps(const WorkerSummary& worker, const NsOf& nsOf) {
    std::vector<int64_t> ns;
    ns.reserve(worker.steps.size());
    for (const StepSummary& step : worker.steps) ns.push_back(nsOf(step));
    return quantileOf(ns, 0.5);
}

/// Of all runs of both sides, which tells nothing of how they differ.
double meanOf(const RunMedians& numbers) {
    double sum = 0;
    for (const std::vector<double>* values : {&numbers.baseline, &numbers.candidate})
        for (const double value : *values) sum += value;
    return sum / static_cast<double>(numbers.baseline.size() + numbers.candidate.size());
}

/// Whether the numbers that are judged tell how far such runs spread. What one run alone does, and
/// does far longer than any other, no other run tells the spread of.
bool isSpreadKnown(const RunMedians& numbers) {
    constexpr double alike = 2;
    const auto greatest = [](const std::vector<double>& values) {
        return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
    };
    const auto isOfOthers = [&](const std::vector<double>& side, const std::vector<double>& other) {
        const double several =
            std::max(other.size() > 1 ? greatest(other) : 0.0, greatest(numbers.spread));
        return side.size() > 1 || greatest(side) <= alike * several;
    };
    return isOfOthers(numbers.baseline, numbers.candidate) &&
           isOfOthers(numbers.candidate, numbers.baseline);
}

using IdleByPath = std::map<std::string, double>;

/// Of the mean step.
IdleByPath idleByPath(const WorkerSummary& worker) {
    IdleByPath idle;
    for (const Contributor& each : worker.contributors)
        if (each.kind == ContributorKind::Idle && !each.path.empty())
            idle[each.path] +=
                static_cast<double>(each.exposedNs) / static_cast<double>(worker.steps.size());
    return idle;
}

std::vector<Quantity> partsOf(const JudgedRuns& runs, double leastNs) {
    StepParts all;
    for (const WorkerRuns* side : {&runs.baseline, &runs.candidate})
        for (const WorkerSummary* worker : *side) all += worker->totalParts();
    std::vector<Quantity> found;
    for (size_t index = 0; index < stepPartCount; ++index) {
        if (all.ns[index] == 0) continue;  // most parts are in no step at all
        Quantity one;
        one.claim.part = static_cast<StepPart>(index);
        one.numbers = numbersOf(runs, [&](const WorkerSummary& worker) {
            return medianOfSteps(
                worker, [&](const StepSummary& step) { return step.parts[one.claim.part]; });
        });
        if (meanOf(one.numbers) >= leastNs && isSpreadKnown(one.numbers))
            found.push_back(std::move(one));
    }
    return found;
}

std::vector<Quantity> pathsOf(const JudgedRuns& runs, double leastNs) {
    std::map<const WorkerSummary*, IdleByPath> idle;
    std::map<std::string, double> all;
    for (const WorkerRuns* side : {&runs.baseline, &runs.candidate, &runs.earlier})
        for (const WorkerSummary* worker : *side)
            for (const auto& [path, ns] :
                 idle.try_emplace(worker, idleByPath(*worker)).first->second)
                all[path] += ns;
    std::vector<Quantity> found;
    for (const auto& each : all) {
        const std::string& path = each.first;
        Quantity one;
        one.claim.kind = QuantityKind::IdleInRange;
        one.claim.path = path;
        one.numbers = numbersOf(runs, [&](const WorkerSummary& worker) {
            const IdleByPath& own = idle.at(&worker);
            const auto place = own.find(path);
            return place == own.end() ? 0 : place->second;
        });
        if (meanOf(one.numbers) >= leastNs && isSpreadKnown(one.numbers))
            found.push_back(std::move(one));
    }
    std::stable_sort(found.begin(), found.end(), [](const Quantity& a, const Quantity& b) {
        return meanOf(a.numbers) > meanOf(b.numbers);
    });
    if (found.size() > mostPaths) found.resize(mostPaths);
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

}  // namespace

void judgeParts(const JudgedRuns& runs, WorkerComparison& pair) {
    const RunMedians steps = numbersOf(runs, [](const WorkerSummary& worker) {
        return std::max(1.0,
                        medianOfSteps(worker, [](const StepSummary& step) { return step.wallNs; }));
    });
    const double leastNs = std::max(1.0, smallestShare * meanOf(steps));
    std::vector<Quantity> parts = partsOf(runs, leastNs), paths = pathsOf(runs, leastNs);
    const auto kinds = static_cast<double>((parts.empty() ? 0 : 1) + (paths.empty() ? 0 : 1));
    const double stepWeight = kinds > 0 ? weightOfStep : 1;
    pair.claim = judgeRuns(steps, stepWeight);
    std::vector<WeightedTest> tests{{pair.claim.pValue, stepWeight}};
    pair.quantities.clear();
    for (std::vector<Quantity>* group : {&parts, &paths}) {
        for (Quantity& one : *group) {
            judge(one);
            tests.push_back({one.claim.pValue,
                             (1 - weightOfStep) / kinds / static_cast<double>(group->size())});
            pair.quantities.push_back(std::move(one.claim));
        }
    }
    const std::vector<double> adjusted = holmAdjusted(tests);
    pair.claim.adjustedPValue = adjusted.front();
    pair.claim.outcome = outcomeOfRuns(pair.claim);
    for (size_t index = 0; index < pair.quantities.size(); ++index) {
        QuantityClaim& claim = pair.quantities[index];
        claim.adjustedPValue = adjusted[index + 1];
        claim.isCertain = claim.adjustedPValue < significantRuns &&
                          std::abs(claim.differenceNs) >= pair.claim.noiseNs;
    }
}

}  // namespace lanescope::compare
