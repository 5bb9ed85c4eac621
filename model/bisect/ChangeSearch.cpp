// SPDX-License-Identifier: Apache-2.0
#include "model/bisect/ChangeSearch.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/numbers/Statistics.h"

namespace lanescope::bisect {

namespace {

/// One-sided error level of each test of the ends. All tests of a search together err in less than 5 of 100 searches.
constexpr double levelOfTest = 0.02;
constexpr double levelOfDismissal = 0.012;
constexpr double growthOfTests = 1.2;       ///< Ratio of the runs at consecutive tests.
constexpr double preferenceOfBuilt = 1.05;  ///< A state that has runs needs no build.
constexpr double expectedOverBound = 1.3;

double square(double value) { return value * value; }

constexpr int64_t maxFreedom = 400;  ///< The t distribution barely changes beyond it.

/// Returns Student's t factor of a one-sided level.
double factorFor(double level, int64_t freedom) { return studentTFor(1 - 2 * level, std::min(freedom, maxFreedom)); }

constexpr double error = 1 - ChangeSearch::confidence;

/// Capacity of one run in nats: its answer is one of two normal distributions, equally likely.
double capacityOf(double ratio) {
    if (ratio > 12) return std::log(2.0);
    // Mutual information by the trapezoid rule: ln 2 - E[ln(1 + exp(-2 r (z + r)))], r half of the distance.
    const double half = ratio / 2;
    constexpr int points = 400;
    constexpr double reach = 8;
    double mean = 0;
    for (int point = 0; point <= points; ++point) {
        const double z = -reach + 2 * reach * point / points;
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI) * (2 * reach / points);
        mean += density * std::log1p(std::exp(-2 * half * (z + half)));
    }
    return std::max(std::log(2.0) - mean, 1e-12);
}

}  // namespace

void ChangeSearch::Group::add(double value) {
    ++count;
    sum += value;
    squares += value * value;
}

void ChangeSearch::Group::add(const Group& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
}

double ChangeSearch::Group::squaresAroundMean() const {
    return count == 0 ? 0 : std::max(0.0, squares - sum * sum / static_cast<double>(count));
}

ChangeSearch::ChangeSearch(size_t states, double minChange)
    : groups_(states), isExcluded_(states, false), minChange_(minChange) {}

void ChangeSearch::addRun(size_t state, double value) {
    values_.push_back({state, value});
    // Differences from the first run keep their digits in the sums of squares.
    groups_[state].add(value - values_.front().value);
    if (state_ == SearchState::Proof) {
        testEnds();
        proofRuns_ = values_.size();
    }
    if (state_ == SearchState::Search) testPlaces();
}

void ChangeSearch::exclude(size_t state) {
    isExcluded_[state] = true;
    if (state_ == SearchState::Search) testPlaces();
}

void ChangeSearch::testPlaces() {
    if (likeliest().probability >= confidence) state_ = SearchState::Found;
    if (change().high < minChange_) state_ = SearchState::NoDifference;
}

void ChangeSearch::testEnds() {
    const Group &first = groups_.front(), &last = groups_.back();
    if (std::min(first.count, last.count) < nextTest_ || first.count != last.count) return;
    nextTest_ = std::max(nextTest_ + 1, static_cast<size_t>(std::ceil(growthOfTests * static_cast<double>(nextTest_))));
    const auto freedom = static_cast<int64_t>(first.count + last.count - 2);
    const double squares = first.squaresAroundMean() + last.squaresAroundMean();
    const double error = std::sqrt(squares / static_cast<double>(freedom) * 2 / static_cast<double>(first.count));
    const double difference = last.mean() - first.mean();
    const double reach = factorFor(levelOfTest, freedom) * error;
    const double relevant = minChange_ * level();
    if (difference > reach) {
        state_ = groups_.size() == 2 ? SearchState::Found : SearchState::Search;
    } else if (difference < -reach) {
        state_ = SearchState::OtherSide;
    } else if (difference + factorFor(levelOfDismissal, freedom) * error < relevant) {
        state_ = SearchState::NoDifference;
    }
}

std::vector<ChangePlace> ChangeSearch::places() const {
    std::vector<ChangePlace> found;
    Group all;
    for (const Group& group : groups_) all.add(group);
    Group before = groups_.front();
    const auto freedom = static_cast<double>(all.count) - 2;
    double greatest = -INFINITY;
    size_t last = 0;
    for (size_t state = 1; state < groups_.size(); ++state) {
        if (isExcluded_[state]) {
            before.add(groups_[state]);
            continue;
        }
        Group after = all;
        after.count -= before.count;
        after.sum -= before.sum;
        after.squares -= before.squares;
        // The marginal likelihood for unknown means and an unknown variance, times the prior.
        const double squares = std::max(before.squaresAroundMean() + after.squaresAroundMean(), 1e-30);
        const double weight = std::log(static_cast<double>(state - last)) - freedom / 2 * std::log(squares) -
                              std::log(static_cast<double>(before.count) * static_cast<double>(after.count)) / 2;
        found.push_back({last, state, weight, before.mean(), after.mean()});
        greatest = std::max(greatest, weight);
        last = state;
        before.add(groups_[state]);
    }
    double sum = 0;
    for (ChangePlace& place : found) sum += place.probability = std::exp(place.probability - greatest);
    for (ChangePlace& place : found) place.probability /= sum;
    return found;
}

ChangePlace ChangeSearch::likeliest() const {
    const std::vector<ChangePlace> all = places();
    return *std::ranges::max_element(all, {}, &ChangePlace::probability);
}

size_t ChangeSearch::next() const {
    const size_t lastState = groups_.size() - 1;
    if (state_ == SearchState::Proof) {
        // ABBA: a drift of the machine affects both ends alike.
        const size_t pair = std::min(groups_.front().count, groups_.back().count);
        const bool isSecond = groups_.front().count != groups_.back().count;
        return (pair % 2 == 0) != isSecond ? 0 : lastState;
    }
    // The run whose expected value differs most among the possible places.
    double sum = 0, squares = 0;
    const std::vector<ChangePlace> all = places();
    for (const ChangePlace& place : all) {
        sum += place.probability * place.meanBefore;
        squares += place.probability * square(place.meanBefore);
    }
    size_t best = 0;
    double greatest = -INFINITY;
    const auto consider = [&](size_t state) {
        const double gain = (squares - square(sum)) * (groups_[state].count > 0 ? preferenceOfBuilt : 1);
        if (gain <= greatest) return;
        greatest = gain;
        best = state;
    };
    consider(0);
    for (const ChangePlace& place : all) {
        sum += place.probability * (place.meanAfter - place.meanBefore);
        squares += place.probability * (square(place.meanAfter) - square(place.meanBefore));
        consider(place.state);
    }
    return best;
}

double ChangeSearch::level() const {
    const double first = std::abs(values_.front().value + groups_.front().mean());
    return first > 0 ? first : std::max(std::abs(values_.front().value + groups_.back().mean()), 1e-30);
}

ShownChange ChangeSearch::changeOf(const Group& before, const Group& after) const {
    const auto freedom = static_cast<int64_t>(before.count + after.count) - 2;
    const double squares = before.squaresAroundMean() + after.squaresAroundMean();
    const double error = std::sqrt(squares / static_cast<double>(freedom) *
                                   (1 / static_cast<double>(before.count) + 1 / static_cast<double>(after.count)));
    const double difference = after.mean() - before.mean(), reach = factorFor(0.025, freedom) * error;
    return {difference / level(), (difference - reach) / level(), (difference + reach) / level()};
}

ShownChange ChangeSearch::change() const {
    const size_t from = state_ == SearchState::Search || state_ == SearchState::Found ? likeliest().state : 1;
    Group before, after;
    for (size_t state = 0; state < groups_.size(); ++state) (state < from ? before : after).add(groups_[state]);
    return changeOf(before, after);
}

ChangeSearch::Group ChangeSearch::since(size_t state) const {
    Group group;
    for (size_t run = proofRuns_; run < values_.size(); ++run)
        if (values_[run].state == state) group.add(values_[run].value - values_.front().value);
    return group;
}

std::optional<ShownChange> ChangeSearch::changeBetween(size_t before, size_t after) const {
    const Group first = since(before), second = since(after);
    if (std::min(first.count, second.count) < 2) return std::nullopt;
    return changeOf(first, second);
}

std::optional<ShownChange> ChangeSearch::control() const {
    Group odd, even;
    for (const Run& run : values_)
        if (run.state == 0) (odd.count > even.count ? even : odd).add(run.value - values_.front().value);
    if (even.count < 2) return std::nullopt;
    return changeOf(odd, even);
}

size_t ChangeSearch::likelyPlaces() const {
    std::vector<ChangePlace> all = places();
    std::ranges::sort(all, std::greater(), &ChangePlace::probability);
    size_t count = 0;
    for (double sum = 0; count < all.size() && sum < confidence; ++count) sum += all[count].probability;
    return count;
}

double ChangeSearch::expectedRuns() const {
    double entropy = 0;
    for (const ChangePlace& place : places())
        if (place.probability > 0) entropy -= place.probability * std::log(place.probability);
    const ShownChange shown = change();
    const auto count = static_cast<double>(runs());
    const double error = (shown.high - shown.low) / 2 / factorFor(0.025, static_cast<int64_t>(count) - 2);
    const double noise = error * std::sqrt(count) / 2;
    return expectedOverBound * informationBound(std::exp(entropy), std::abs(shown.share), noise).search;
}

InformationBound informationBound(double places, double effect, double noise) {
    const double ratio = effect / noise;
    InformationBound bound;
    const double evidence = (1 - error) * std::log((1 - error) / error) + error * std::log(error / (1 - error));
    bound.proof = std::max(2.0 * ChangeSearch::minRunsPerEnd, 2 * evidence / (square(ratio) / 4));
    if (places < 1.5) return bound;
    bound.search =
        std::max(0.0, (1 - error) * std::log(places) + error * std::log(error) + (1 - error) * std::log(1 - error)) /
        capacityOf(ratio);
    return bound;
}

}  // namespace lanescope::bisect
