// SPDX-License-Identifier: Apache-2.0
#include "model/compare/changePoint.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace lanescope::compare {

namespace {

constexpr int orders = 999;
constexpr double significant = 0.025;
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

double meanLogOf(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return sum / static_cast<double>(values.size());
}

double percentBetween(std::span<const double> before, std::span<const double> after) {
    return 100 * std::expm1(meanLogOf(after) - meanLogOf(before));
}

std::optional<ChangePoint> changeIn(std::span<const double> values) {
    if (values.size() < 2 * minValuesPerSide) return std::nullopt;
    std::vector<double> logs;
    for (const double value : values) logs.push_back(std::log(value));
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
        if (point.pValue >= significant) return std::nullopt;
    }
    return point;
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

}  // namespace lanescope::compare
