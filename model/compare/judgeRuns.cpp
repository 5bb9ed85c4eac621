// SPDX-License-Identifier: Apache-2.0
#include "model/compare/judgeRuns.h"

#include <algorithm>
#include <cmath>

#include "model/values/studentT.h"

namespace lanescope::compare {

namespace {

constexpr double confidence = 0.95;
constexpr double seenDrift = 0.1;  ///< A smaller p value of the slope is a drift.
constexpr double power = 0.8;      ///< Of the smallest change that would be seen.

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
double productsOf(std::span<const double> values, const Sample& ofValues,
                  std::span<const double> turns, const Sample& ofTurns) {
    double sum = 0;
    for (size_t run = 0; run < values.size(); ++run)
        sum += (values[run] - ofValues.mean) * (turns[run] - ofTurns.mean);
    return sum;
}

/// Whether a slope is more than chance gives.
bool isDrift(double slope, double error, int64_t freedom) {
    if (!(error > 0)) return slope != 0;
    return studentTWithin(std::abs(slope) / error, freedom) > 1 - seenDrift;
}

int64_t freedomIn(const std::vector<double>& runs) {
    return std::max<int64_t>(0, static_cast<int64_t>(runs.size()) - 1);
}

double percentOfLog(double log) {
    return 100 * std::expm1(log);
}

std::vector<double> logsOf(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
}

/// Of the side whose runs lie further apart, in percent of its least; nothing of one run a side.
std::optional<double> apartPercent(const RunMedians& medians) {
    std::optional<double> most;
    for (const std::vector<double>* runs : {&medians.baseline, &medians.candidate}) {
        if (runs->size() < 2) continue;
        const auto [least, greatest] = std::minmax_element(runs->begin(), runs->end());
        most = std::max(most.value_or(0), 100 * (*greatest / *least - 1));
    }
    return most;
}

}  // namespace

int64_t freedomOf(const RunMedians& medians) {
    return freedomIn(medians.baseline) + freedomIn(medians.candidate) + freedomIn(medians.spread) -
           (medians.baselineTurns.empty() ? 0 : 1);
}

double GroupDifference::reach() const {
    return studentTFor(confidence, freedom) * error;
}

double GroupDifference::pValue() const {
    if (error > 0) return 1 - studentTWithin(std::abs(difference) / error, freedom);
    return difference == 0 ? 1 : 0;
}

GroupDifference differenceOf(const RunMedians& numbers) {
    const Sample before = sampleOf(numbers.baseline), after = sampleOf(numbers.candidate);
    GroupDifference found;
    found.baseline = before.mean;
    found.difference = after.mean - before.mean;
    found.freedom = freedomOf(numbers);
    double squares = before.squares + after.squares + sampleOf(numbers.spread).squares;
    double factor = 1 / static_cast<double>(before.count) + 1 / static_cast<double>(after.count);
    auto distances =
        static_cast<double>(found.freedom);  // that `squares` is the sum of, but for means
    if (!numbers.baselineTurns.empty()) {
        const Sample first = sampleOf(numbers.baselineTurns);
        const Sample second = sampleOf(numbers.candidateTurns);
        const double turns = first.squares + second.squares;
        const double products =
            productsOf(numbers.baseline, before, numbers.baselineTurns, first) +
            productsOf(numbers.candidate, after, numbers.candidateTurns, second);
        const double slope = products / turns, apart = second.mean - first.mean;
        const double left = std::max(0.0, squares - slope * products);
        if (isDrift(slope, std::sqrt(left / static_cast<double>(found.freedom) / turns),
                    found.freedom)) {
            found.difference -= slope * apart;
            squares = left;
            factor += apart * apart / turns;
        } else {
            ++distances;
        }
    }
    found.error = std::sqrt(squares / distances * factor);
    return found;
}

Claim judgeRuns(const RunMedians& medians, double weight) {
    RunMedians logs = medians;
    for (std::vector<double>* runs : {&logs.baseline, &logs.candidate, &logs.spread})
        *runs = logsOf(std::move(*runs));
    const GroupDifference found = differenceOf(logs);
    const double reach = found.reach();
    const double medianNs = std::exp(found.baseline);

    Claim claim;
    claim.unit = ClaimUnit::Runs;
    claim.baselineRuns = static_cast<int64_t>(medians.baseline.size());
    claim.candidateRuns = static_cast<int64_t>(medians.candidate.size());
    claim.spreadRuns = static_cast<int64_t>(medians.spread.size());
    claim.percent = percentOfLog(found.difference);
    claim.lowPercent = percentOfLog(found.difference - reach);
    claim.highPercent = percentOfLog(found.difference + reach);
    // One-sided for the power: a change in the other direction is not the one looked for.
    claim.visiblePercent = percentOfLog((studentTFor(1 - weight * significantRuns, found.freedom) +
                                         studentTFor(2 * power - 1, found.freedom)) *
                                        found.error);
    claim.apartPercent = apartPercent(medians);
    claim.areByTurns = !medians.baselineTurns.empty();
    claim.differenceNs = medianNs * claim.percent / 100;
    claim.lowNs = medianNs * claim.lowPercent / 100;
    claim.highNs = medianNs * claim.highPercent / 100;
    claim.noiseNs = medianNs * smallestPercentOfStep / 100;
    claim.pValue = claim.adjustedPValue = found.pValue();
    claim.outcome = outcomeOfRuns(claim);
    return claim;
}

Outcome outcomeOfRuns(const Claim& claim) {
    const bool isSeen =
        claim.adjustedPValue < significantRuns && std::abs(claim.percent) >= smallestPercentOfStep;
    if (!isSeen) return Outcome::WithinNoise;
    return claim.percent > 0 ? Outcome::Slower : Outcome::Faster;
}

}  // namespace lanescope::compare
