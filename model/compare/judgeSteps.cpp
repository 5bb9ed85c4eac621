// SPDX-License-Identifier: Apache-2.0
#include "model/compare/judgeSteps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/values/significance.h"

namespace lanescope::compare {

namespace {

constexpr double significant = 0.01;
constexpr double smallestShare = 0.01;  ///< Of the baseline's median that anyone cares about.

double medianOfPart(std::span<const int64_t> values, size_t from, size_t to) {
    return quantileOf(values.subspan(from, to - from), 0.5);
}

/// How far the run's own steps lie apart: what the other run must exceed to be another.
double spreadWithin(std::span<const int64_t> wallNs) {
    const double halfRange = (quantileOf(wallNs, 0.75) - quantileOf(wallNs, 0.25)) / 2;
    const size_t middle = wallNs.size() / 2;
    const double drift =
        std::abs(medianOfPart(wallNs, middle, wallNs.size()) - medianOfPart(wallNs, 0, middle));
    return std::max(halfRange, drift);
}

}  // namespace

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
    spread.minimumNs = *std::min_element(wallNs.begin(), wallNs.end());
    spread.maximumNs = *std::max_element(wallNs.begin(), wallNs.end());
    return spread;
}

StepDistribution stepsOf(const WorkerSummary& worker) {
    std::vector<int64_t> wallNs;
    for (const StepSummary& step : worker.steps) wallNs.push_back(step.wallNs);
    return distributionOf(wallNs);
}

Claim judgeSteps(std::span<const int64_t> baselineNs, std::span<const int64_t> candidateNs) {
    Claim claim;
    if (baselineNs.empty() || candidateNs.empty()) return claim;
    const double medianNs = quantileOf(baselineNs, 0.5);
    claim.differenceNs = quantileOf(candidateNs, 0.5) - medianNs;
    claim.percent = medianNs > 0 ? 100 * claim.differenceNs / medianNs : 0;
    claim.outcome = Outcome::TooFewSteps;
    if (std::min(baselineNs.size(), candidateNs.size()) < static_cast<size_t>(fewestStepsForClaim))
        return claim;
    claim.pValue = mannWhitney(baselineNs, candidateNs).pValue;
    const Interval interval = medianDifferenceInterval(baselineNs, candidateNs);
    claim.lowNs = interval.low;
    claim.highNs = interval.high;
    claim.noiseNs =
        std::max({smallestShare * medianNs, spreadWithin(baselineNs), spreadWithin(candidateNs)});
    const bool isBeyondChance =
        claim.pValue < significant && (interval.low > 0 || interval.high < 0);
    const bool isBeyondNoise = std::abs(claim.differenceNs) > claim.noiseNs;
    claim.outcome = !isBeyondChance || !isBeyondNoise ? Outcome::Alike
                    : claim.differenceNs > 0          ? Outcome::Longer
                                                      : Outcome::Shorter;
    return claim;
}

std::vector<int64_t> shareOut(std::span<const int64_t> values, int64_t count, int64_t sum) {
    std::vector<int64_t> shares;
    for (const int64_t value : values) shares.push_back(count > 0 ? value / count : 0);
    if (count <= 0) return shares;
    int64_t left = sum - std::accumulate(shares.begin(), shares.end(), int64_t{0});
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return values[a] % count > values[b] % count; });
    for (const size_t index : order) {
        if (left <= 0) break;
        ++shares[index];
        --left;
    }
    return shares;
}

}  // namespace lanescope::compare
