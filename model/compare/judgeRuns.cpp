// SPDX-License-Identifier: Apache-2.0
#include "model/compare/judgeRuns.h"

#include <algorithm>
#include <cmath>

#include "model/values/studentT.h"

namespace lanescope::compare {

namespace {

constexpr double confidence = 0.95;
constexpr double power = 0.8;          ///< Of the smallest change that would be seen.
constexpr double smallestPercent = 1;  ///< That anyone cares about.

struct LogSample {
    double mean = 0;
    double squares = 0;  ///< Sum of squared distances from the mean.
    int64_t count = 0;
};

LogSample sampleOf(std::span<const double> values) {
    LogSample sample;
    for (const double value : values) {
        const double log = std::log(value);
        const double distance = log - sample.mean;
        sample.mean += distance / static_cast<double>(++sample.count);
        sample.squares += distance * (log - sample.mean);
    }
    return sample;
}

int64_t freedomIn(const std::vector<double>& runs) {
    return std::max<int64_t>(0, static_cast<int64_t>(runs.size()) - 1);
}

double percentOfLog(double log) {
    return 100 * std::expm1(log);
}

}  // namespace

int64_t freedomOf(const RunMedians& medians) {
    return freedomIn(medians.baseline) + freedomIn(medians.candidate) + freedomIn(medians.spread);
}

Claim judgeRuns(const RunMedians& medians) {
    const LogSample before = sampleOf(medians.baseline);
    const LogSample after = sampleOf(medians.candidate);
    const LogSample earlier = sampleOf(medians.spread);
    const int64_t freedom = freedomOf(medians);
    const double variance =
        (before.squares + after.squares + earlier.squares) / static_cast<double>(freedom);
    const double error = std::sqrt(
        variance * (1 / static_cast<double>(before.count) + 1 / static_cast<double>(after.count)));
    const double difference = after.mean - before.mean;
    const double reach = studentTFor(confidence, freedom) * error;
    const double medianNs = std::exp(before.mean);

    Claim claim;
    claim.unit = ClaimUnit::Runs;
    claim.baselineRuns = before.count;
    claim.candidateRuns = after.count;
    claim.spreadRuns = earlier.count;
    claim.percent = percentOfLog(difference);
    claim.lowPercent = percentOfLog(difference - reach);
    claim.highPercent = percentOfLog(difference + reach);
    // One-sided for the power: a change in the other direction is not the one looked for.
    claim.visiblePercent = percentOfLog(reach + studentTFor(2 * power - 1, freedom) * error);
    claim.differenceNs = medianNs * claim.percent / 100;
    claim.lowNs = medianNs * claim.lowPercent / 100;
    claim.highNs = medianNs * claim.highPercent / 100;
    claim.noiseNs = medianNs * smallestPercent / 100;
    if (error > 0)
        claim.pValue = 1 - studentTWithin(std::abs(difference) / error, freedom);
    else
        claim.pValue = difference == 0 ? 1 : 0;
    const bool isSeen = claim.pValue < 1 - confidence && std::abs(claim.percent) >= smallestPercent;
    claim.outcome = !isSeen          ? Outcome::WithinNoise
                    : difference > 0 ? Outcome::Slower
                                     : Outcome::Faster;
    return claim;
}

}  // namespace lanescope::compare
