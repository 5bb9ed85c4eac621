// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/StepTriggers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace lanescope::capture {

namespace {

constexpr double minRelativeDifference = 0.10;
constexpr double minDifferenceNs = 1e6;
constexpr double maxDeviations = 6;
constexpr double deviationScale = 1.4826;  // median deviation to standard deviation, for normal values

double medianOf(auto values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

double deviationOf(const std::vector<int64_t>& values, double median) {
    std::vector<double> distances;
    for (const int64_t each : values) distances.push_back(std::abs(static_cast<double>(each) - median));
    return deviationScale * medianOf(std::move(distances));
}

double allowedDifference(const std::vector<int64_t>& values, double median) {
    return std::max({maxDeviations * deviationOf(values, median), minRelativeDifference * median, minDifferenceNs});
}

}  // namespace

std::optional<StepTriggers::Event> StepTriggers::add(int64_t stepNs) {
    std::optional<Event> event;
    const std::vector<int64_t> before(history_.begin(), history_.end());
    const double median = medianOf(before);
    medianNs_ = before.size() >= firstCount ? static_cast<int64_t>(median) : 0;
    if (medianNs_ > 0 && static_cast<double>(stepNs) > median + allowedDifference(before, median))
        event = Event{Kind::SlowStep, stepNs, static_cast<int64_t>(median)};
    history_.push_back(stepNs);
    if (history_.size() > historyCount) history_.pop_front();
    ++sinceChange_;
    if (sinceChange_ < static_cast<int64_t>(newCount + oldCount) || history_.size() < newCount + oldCount) return event;
    const auto newBegin = history_.end() - newCount;
    const std::vector<int64_t> older(newBegin - oldCount, newBegin);
    const double oldMedian = medianOf(older);
    const double newMedian = medianOf(std::vector<int64_t>(newBegin, history_.end()));
    if (std::abs(newMedian - oldMedian) <= allowedDifference(older, oldMedian)) return event;
    sinceChange_ = 0;
    history_.erase(history_.begin(), newBegin);
    return Event{Kind::LevelChange, static_cast<int64_t>(newMedian), static_cast<int64_t>(oldMedian)};
}

bool LevelController::add(int64_t startNs, int64_t endNs, int64_t appliedNs) {
    if (!isMeasuring() || appliedNs == INT64_MAX || startNs < appliedNs + settlingNs) return false;
    const Level before = level();
    if (block_.empty()) blockBegunNs_ = startNs;
    block_.push_back(endNs - startNs);
    if (block_.size() >= stepsPerBlock && endNs - blockBegunNs_ >= blockNs) endBlock();
    return level() != before;
}

void LevelController::endBlock() {
    const double ns = medianOf(std::exchange(block_, {}));
    if (!recordedNs_) {
        recordedNs_ = ns;
        isBaseline_ = true;
        return;
    }
    if (ns > 0) differences_.push_back(100 * (*recordedNs_ - ns) / ns);
    recordedNs_.reset();
    isBaseline_ = false;
    const auto pairs = static_cast<int64_t>(differences_.size());
    if (pairs == minPairs || pairs == maxPairs / 4 || pairs == maxPairs / 2 || pairs == maxPairs) decide();
}

void LevelController::decide() {
    const auto count = static_cast<double>(differences_.size());
    double sum = 0, squares = 0;
    for (const double each : differences_) sum += each;
    const double mean = sum / count;
    for (const double each : differences_) squares += (each - mean) * (each - mean);
    // Student's t for 95 % on both sides, close enough from 8 pairs on.
    const double t = 1.95996 + 2.37227 / (count - 1) + 2.8224 / ((count - 1) * (count - 1));
    const double half = t * std::sqrt(squares / (count - 1) / count);
    const bool isCheap = mean + half <= budgetPercent_;
    const bool isExpensive = mean - half > budgetPercent_;
    if (!isCheap && !isExpensive && static_cast<int64_t>(differences_.size()) < maxPairs) return;
    costs_.push_back({tried_, mean, mean - half, mean + half, static_cast<int64_t>(differences_.size())});
    differences_.clear();
    if (isCheap) {
        isDecided_ = true;
    } else {
        tried_ = static_cast<Level>(static_cast<uint32_t>(tried_) - 1);
        isDecided_ = tried_ == Level::Steps;
    }
}

bool LevelController::measureAgain() {
    if (budgetPercent_ < 0) return false;
    const Level before = level();
    tried_ = Level::All;
    isBaseline_ = isDecided_ = false;
    block_.clear();
    recordedNs_.reset();
    differences_.clear();
    costs_.clear();
    return level() != before;
}

}  // namespace lanescope::capture
