// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/stepPatterns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

constexpr double minExcessShare = 0.02;  ///< Share of the median.
constexpr double significant = 0.01;
constexpr size_t maxPeriod = 32;
constexpr size_t minPeriods = 5;
constexpr double minFrequency = 0.8;  ///< Required frequency of the longest step at the place of a period.
/// Maximum ratio of unexplained time, of a multiple of a period to the period.
constexpr double maxUnexplainedRatio = 0.9;
/// As `minFrequency`, for a multiple of a known period, of which other long steps may sometimes be the longest.
constexpr double minFrequencyOfMultiple = 0.5;
constexpr double cleanSeparation = 6;
constexpr double minModeShare = 0.15;
constexpr size_t minStepsInMode = 5;
constexpr double minGapShare = 0.4;  ///< Share of the distance of the modes.
constexpr size_t driftParts = 6;
/// Maximum share of the total rise between two neighbouring parts of a drift. A larger share is a jump.
constexpr double maxJumpShare = 0.6;
/// Maximum ratio of unexplained time, of a drift to another pattern.
constexpr double maxDriftRatio = 0.6;
constexpr size_t minStepsInDriftPart = 4;

using Times = std::vector<int64_t>;

double medianOf(std::span<const int64_t> values) { return quantileOf(values, 0.5); }

/// Returns the pattern that these steps are longer, or shorter, than the others.
StepPattern patternAbout(PatternKind kind, std::span<const int64_t> wallNs, const std::vector<bool>& isAffected) {
    StepPattern pattern{.kind = kind};
    Times affected, others;
    for (uint32_t step = 0; step < wallNs.size(); ++step) {
        (isAffected[step] ? affected : others).push_back(wallNs[step]);
        if (isAffected[step]) pattern.affected.push_back(step);
    }
    pattern.share = static_cast<double>(affected.size()) / static_cast<double>(wallNs.size());
    const double excess = medianOf(affected) - medianOf(others);
    pattern.excessNs = std::llround(excess);
    pattern.costNs = std::llround(excess * pattern.share);
    return pattern;
}

bool isWorthTelling(const StepPattern& pattern, std::span<const int64_t> wallNs) {
    return static_cast<double>(std::abs(pattern.excessNs)) >= minExcessShare * medianOf(wallNs);
}

/// Returns the probability of at least `hits` of `tries` that each succeed once in `chances`.
double chanceOf(size_t hits, size_t tries, size_t chances) {
    const double success = std::log(1.0 / static_cast<double>(chances));
    const double failure = std::log1p(-1.0 / static_cast<double>(chances));
    const auto all = static_cast<double>(tries);
    double sum = 0;
    for (size_t count = hits; count <= tries; ++count) {
        const auto each = static_cast<double>(count);
        sum += std::exp(std::lgamma(all + 1) - std::lgamma(each + 1) - std::lgamma(all - each + 1) + each * success +
                        (all - each) * failure);
    }
    return sum;
}

/// The place of a period that most often has the longest step, and its frequency.
struct LongestPlace {
    size_t place = 0;
    size_t count = 0;
};

LongestPlace longestPlace(std::span<const int64_t> wallNs, size_t period) {
    std::vector<size_t> counts(period);
    for (size_t begin = 0; begin + period <= wallNs.size(); begin += period) {
        const auto one = wallNs.subspan(begin, period);
        ++counts[static_cast<size_t>(std::ranges::max_element(one) - one.begin())];
    }
    const auto most = std::ranges::max_element(counts);
    return {static_cast<size_t>(most - counts.begin()), *most};
}

/// Returns the distance of the steps from their median.
double distanceNs(const Times& wallNs) {
    const double middle = medianOf(wallNs);
    return sumOf(wallNs, [middle](int64_t ns) { return std::abs(static_cast<double>(ns) - middle); });
}

/// Returns the distance of the steps from the median of their group: time not explained by a pattern.
double unexplainedNs(std::span<const int64_t> wallNs, const StepPattern& pattern) {
    std::vector<bool> isAffected(wallNs.size());
    for (const uint32_t step : pattern.affected) isAffected[step] = true;
    std::array<Times, 2> groups;
    for (size_t step = 0; step < wallNs.size(); ++step) groups[isAffected[step] ? 1 : 0].push_back(wallNs[step]);
    return distanceNs(groups[0]) + distanceNs(groups[1]);
}

std::optional<StepPattern> periodOf(std::span<const int64_t> wallNs, size_t series) {
    const size_t longest = std::min(maxPeriod, wallNs.size() / minPeriods);
    if (longest < 2) return std::nullopt;
    const auto tried = static_cast<double>(series) * static_cast<double>(longest * (longest + 1) / 2 - 1);
    std::optional<StepPattern> found;
    std::vector<StepPattern> others;  // possible multiples of the found one; by period
    double least = significant;
    for (size_t period = 2; period <= longest; ++period) {
        const size_t periods = wallNs.size() / period;
        const LongestPlace longestStep = longestPlace(wallNs, period);
        const double often = static_cast<double>(longestStep.count) / static_cast<double>(periods);
        if (often < minFrequencyOfMultiple) continue;
        const double chance = tried * chanceOf(longestStep.count, periods, period);
        if (chance >= significant) continue;
        std::vector<bool> isAffected(wallNs.size());
        for (size_t step = longestStep.place; step < wallNs.size(); step += period) isAffected[step] = true;
        StepPattern pattern = patternAbout(PatternKind::Period, wallNs, isAffected);
        pattern.period = static_cast<int64_t>(period);
        if (pattern.excessNs <= 0 || !isWorthTelling(pattern, wallNs)) continue;
        others.push_back(pattern);
        if (often < minFrequency || chance >= least) continue;
        least = chance;
        found = std::move(pattern);
    }
    // If every fourth step is long, every second is often the longer one, too.
    if (!found) return found;
    const int64_t first = found->period;
    for (StepPattern& each : others)
        if (each.period > first && each.period % first == 0 &&
            unexplainedNs(wallNs, each) < maxUnexplainedRatio * unexplainedNs(wallNs, *found))
            found = std::move(each);
    return found;
}

/// Sums over the first of the sorted values.
struct PowerSums {
    double count = 0, sum = 0, squares = 0;
    void add(double value) {
        ++count;
        sum += value;
        squares += value * value;
    }
    PowerSums without(const PowerSums& other) const {
        return {count - other.count, sum - other.sum, squares - other.squares};
    }
    double mean() const { return sum / count; }
    double variance() const { return std::max(0.0, squares / count - mean() * mean()); }
};

/// Returns the minimum of the upper of two clean modes, or nullopt.
std::optional<int64_t> upperMode(std::span<const int64_t> wallNs) {
    Times sorted(wallNs.begin(), wallNs.end());
    std::ranges::sort(sorted);
    const double middle = medianOf(sorted);  // Squares of the remainders are exact enough.
    const auto smallest = static_cast<size_t>(std::ceil(minModeShare * static_cast<double>(sorted.size())));
    const size_t fewest = std::max(minStepsInMode, smallest);
    PowerSums all, low;
    for (const int64_t value : sorted) all.add(static_cast<double>(value) - middle);
    std::optional<int64_t> found;
    double widest = cleanSeparation;
    for (size_t count = 1; count + fewest <= sorted.size(); ++count) {
        low.add(static_cast<double>(sorted[count - 1]) - middle);
        if (count < fewest) continue;
        const PowerSums high = all.without(low);
        const double distance = high.mean() - low.mean();
        const auto gap = static_cast<double>(sorted[count] - sorted[count - 1]);
        if (gap < minGapShare * distance || gap <= 0) continue;
        const double spread = std::sqrt((low.variance() + high.variance()) / 2);
        if (distance < widest * spread) continue;
        // Equal steps have no spread; then the widest gap decides.
        widest = spread > 0 ? distance / spread : widest;
        found = sorted[count];
    }
    return found;
}

std::optional<StepPattern> modesOf(std::span<const int64_t> wallNs) {
    const std::optional<int64_t> upper = upperMode(wallNs);
    if (!upper) return std::nullopt;
    std::vector<bool> isAffected;
    for (const int64_t ns : wallNs) isAffected.push_back(ns >= *upper);
    int64_t changes = 0;
    for (size_t step = 1; step < isAffected.size(); ++step) changes += isAffected[step] != isAffected[step - 1] ? 1 : 0;
    const bool isLevel = changes == 1;
    if (isLevel && isAffected.front()) isAffected.flip();
    StepPattern pattern = patternAbout(isLevel ? PatternKind::Level : PatternKind::TwoModes, wallNs, isAffected);
    if (!isWorthTelling(pattern, wallNs)) return std::nullopt;
    return pattern;
}

std::optional<StepPattern> driftOf(std::span<const int64_t> wallNs) {
    if (wallNs.size() < driftParts * minStepsInDriftPart) return std::nullopt;
    std::vector<double> medians;
    Times distances;
    int rises = 0, falls = 0;
    size_t begin = 0, last = 0;
    for (size_t part = 1; part <= driftParts; ++part) {
        const size_t end = wallNs.size() * part / driftParts;
        const auto steps = wallNs.subspan(begin, end - begin);
        medians.push_back(medianOf(steps));
        for (const int64_t ns : steps) distances.push_back(std::llround(static_cast<double>(ns) - medians.back()));
        if (part > 1) ++(medians[part - 1] > medians[part - 2] ? rises : falls);
        last = begin;
        begin = end;
    }
    const auto all = static_cast<int>(driftParts) - 1;
    const double excess = medians.back() - medians.front();
    const double spread = quantileOf(distances, 0.75) - quantileOf(distances, 0.25);
    if ((rises != all && falls != all) || std::abs(excess) <= spread) return std::nullopt;
    for (size_t part = 1; part < driftParts; ++part)
        if (std::abs(medians[part] - medians[part - 1]) > maxJumpShare * std::abs(excess)) return std::nullopt;
    std::vector<bool> isAffected(wallNs.size());
    for (size_t step = last; step < wallNs.size(); ++step) isAffected[step] = true;
    StepPattern pattern = patternAbout(PatternKind::Drift, wallNs, isAffected);
    pattern.excessNs = std::llround(excess);
    if (!isWorthTelling(pattern, wallNs)) return std::nullopt;
    // By medians: single long steps are no part of the drift, and it costs no more than it rises.
    const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / static_cast<double>(medians.size());
    pattern.costNs = std::llround(mean - medians.front());
    pattern.share = 1;
    return pattern;
}

/// Returns the steps without their drift, about their median. The drift goes from each sixth's median to the next.
Times withoutDrift(std::span<const int64_t> wallNs) {
    std::array<double, driftParts> medians{};
    for (size_t part = 0; part < driftParts; ++part) {
        const size_t begin = wallNs.size() * part / driftParts;
        medians[part] = medianOf(wallNs.subspan(begin, wallNs.size() * (part + 1) / driftParts - begin));
    }
    const double middle = medianOf(wallNs);
    Times left;
    for (size_t step = 0; step < wallNs.size(); ++step) {
        // In sixths, from the middle of the first on.
        const double at =
            (static_cast<double>(step) + 0.5) * static_cast<double>(driftParts) / static_cast<double>(wallNs.size()) -
            0.5;
        const auto before = static_cast<size_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(driftParts - 2)));
        const double grown =
            medians[before] + (at - static_cast<double>(before)) * (medians[before + 1] - medians[before]);
        left.push_back(std::llround(static_cast<double>(wallNs[step]) - grown + middle));
    }
    return left;
}

/// Returns true if a pattern exists only because the steps grow: without the drift they have no period and less
/// remainder than the pattern. Not tested for shrinking steps, since another pattern has a positive cost.
bool isOfDrift(std::span<const int64_t> wallNs, const StepPattern& pattern, size_t series) {
    const size_t ofPart = wallNs.size() / driftParts;
    if (medianOf(wallNs.last(ofPart)) < medianOf(wallNs.first(ofPart))) return false;
    const Times left = withoutDrift(wallNs);
    return distanceNs(left) < maxDriftRatio * unexplainedNs(wallNs, pattern) &&
           (pattern.kind != PatternKind::Period || !periodOf(left, series));
}

/// Finds the part that differs most between the affected steps and the others.
void blamePart(std::span<const StepSummary> steps, StepPattern& pattern) {
    std::vector<bool> isAffected(steps.size());
    for (const uint32_t step : pattern.affected) isAffected[step] = true;
    const auto affected = static_cast<double>(pattern.affected.size());
    const double others = static_cast<double>(steps.size()) - affected;
    const double sign = pattern.excessNs < 0 ? -1 : 1;
    double most = 0;
    for (const StepPart part : allStepParts) {
        double excess = 0;
        for (size_t step = 0; step < steps.size(); ++step)
            excess += static_cast<double>(steps[step].parts[part]) / (isAffected[step] ? affected : -others);
        if (excess * sign <= most) continue;
        most = excess * sign;
        pattern.part = part;
        pattern.partExcessNs = std::llround(excess);
    }
}

}  // namespace

std::string_view identifier(PatternKind kind) { return enumText(kind, {"period", "level", "two_modes", "drift"}); }

std::optional<StepPattern> patternOf(std::span<const StepSummary> steps, size_t series) {
    Times wallNs;
    for (const StepSummary& step : steps) wallNs.push_back(step.wallNs);
    std::optional<StepPattern> pattern = periodOf(wallNs, series);
    if (!pattern) pattern = modesOf(wallNs);
    // If steps grow all the time, the later ones are a mode of longer ones, too, and the last of every few is longest.
    if (auto drift = driftOf(wallNs); drift && (!pattern || isOfDrift(wallNs, *pattern, series)))
        pattern = std::move(drift);
    if (!pattern) return std::nullopt;
    pattern->firstNumber = steps[pattern->affected.front()].number;
    blamePart(steps, *pattern);
    return pattern;
}

}  // namespace lanescope::analysis
