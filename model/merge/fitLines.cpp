// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitLines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "model/numbers/Statistics.h"

namespace lanescope {

/// Equations of least squares: a positive definite matrix, and the right side.
class NormalEquations {
  public:
    explicit NormalEquations(size_t unknowns) : count_(unknowns), matrix_(unknowns * unknowns), right_(unknowns) {}

    double& at(size_t row, size_t column) { return matrix_[row * count_ + column]; }
    double& right(size_t row) { return right_[row]; }

    /// Decomposes the positive definite matrix into a triangle and its mirror.
    bool decompose() {
        for (size_t row = 0; row < count_; ++row)
            for (size_t column = 0; column <= row; ++column) {
                double sum = at(row, column);
                for (size_t k = 0; k < column; ++k) sum -= at(row, k) * at(column, k);
                if (row == column) {
                    if (!(sum > 0)) return false;
                    at(row, row) = std::sqrt(sum);
                } else {
                    at(row, column) = sum / at(column, column);
                }
            }
        return true;
    }
    /// Returns the solution for `values`; after `decompose`.
    std::vector<double> solved(std::vector<double> values) {
        for (size_t row = 0; row < count_; ++row) {
            for (size_t k = 0; k < row; ++k) values[row] -= at(row, k) * values[k];
            values[row] /= at(row, row);
        }
        for (size_t row = count_; row-- > 0;) {
            for (size_t k = row + 1; k < count_; ++k) values[row] -= at(k, row) * values[k];
            values[row] /= at(row, row);
        }
        return values;
    }
    const std::vector<double>& right() const { return right_; }

  private:
    size_t count_;
    std::vector<double> matrix_, right_;
};

namespace {

/// Typical bound of computers' oscillators.
constexpr double typicalDrift = 50e-6;
/// Ends of one event are never known better than this.
constexpr double minEndSpreadNs = 20;
constexpr int rounds = 12;
/// Parts of the time in which a clock's steadiness is tested, and events in each.
constexpr size_t maxParts = 16, minEventsOfPart = 8;

/// A sighting in the equations. Times are relative to a common origin, which keeps them exact as `double`s for weeks.
struct Point {
    uint32_t clock = 0;
    double timeNs = 0;
    double weight = 1;
};

/// The maximum of values of several clocks, and the maximum of all other clocks.
class TopTwo {
  public:
    void take(uint32_t clock, double value) {
        if (clock == clock_) {
            first_ = std::max(first_, value);
        } else if (value > first_) {
            second_ = first_;
            first_ = value;
            clock_ = clock;
        } else {
            second_ = std::max(second_, value);
        }
    }
    double butOf(uint32_t clock) const { return clock == clock_ ? second_ : first_; }

  private:
    uint32_t clock_ = UINT32_MAX;
    double first_ = -std::numeric_limits<double>::infinity(), second_ = first_;
};

/// Fits lines. The unknowns are, for each clock but the first, its offset at the origin in ns and
/// its drift in ns per second.
class LineFitter {
  public:
    LineFitter(uint32_t clockCount, const std::vector<CommonTime>& moments) : clocks_(clockCount), moments_(moments) {
        findOrigin();
        numberUnknowns();
        for (const CommonTime& moment : moments) points_.push_back(pointsOf(moment));
    }

    LineFit fit() {
        LineFit fit;
        fit.clocks.resize(clocks_.size());
        // A few count as outliers at first; each round improves the fit.
        for (int round = 0; round < rounds; ++round)
            if (!solve(round)) break;
        setErrors();
        coverUnsteadiness();
        obeyCausality();
        fit.spreadNs = std::llround(spreadNs_);
        for (size_t clock = 0; clock < clocks_.size(); ++clock) {
            const State& state = clocks_[clock];
            FittedLine& out = fit.clocks[clock];
            out.line = {std::llround(state.offsetNs), originNs_, state.driftPerS * 1e-9};
            out.errorNs = std::llround(std::ceil(state.errorNs));
            out.moments = state.moments;
            if (state.minShiftNs > -unbounded && state.maxShiftNs < unbounded)
                out.slackNs = TimeRange{std::llround(state.minShiftNs), std::llround(state.maxShiftNs)};
        }
        countViolations(fit);
        fit.distances = distances();
        return fit;
    }

  private:
    static constexpr double unbounded = std::numeric_limits<double>::infinity();

    struct State {
        double offsetNs = 0, driftPerS = 0;
        double errorNs = 0;
        uint32_t moments = 0;
        size_t unknown = SIZE_MAX;  ///< Number of its first unknown; none if it cannot be determined.
        double firstS = unbounded, lastS = -unbounded;
        double minShiftNs = -unbounded, maxShiftNs = unbounded;  ///< Shifts allowed by causality.
    };

    double secondsOf(double timeNs) const { return timeNs * 1e-9; }
    double relative(int64_t timeNs) const { return static_cast<double>(timeNs - originNs_); }
    double corrected(uint32_t clock, double timeNs) const {
        const State& state = clocks_[clock];
        return timeNs + state.offsetNs + state.driftPerS * secondsOf(timeNs);
    }

    void findOrigin() {
        int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
        for (const CommonTime& moment : moments_)
            for (const Sighting& each : moment.sightings) {
                first = std::min(first, each.endNs);
                last = std::max(last, each.endNs);
            }
        if (first <= last) originNs_ = std::midpoint(first, last);
    }

    /// Only clocks that share an event with the first, directly or via others, can be determined.
    void numberUnknowns() {
        std::vector<uint32_t> group(clocks_.size());
        std::iota(group.begin(), group.end(), 0u);
        const auto root = [&group](uint32_t clock) {
            while (group[clock] != clock) clock = group[clock] = group[group[clock]];
            return clock;
        };
        for (const CommonTime& moment : moments_)
            for (const Sighting& each : moment.sightings)
                group[root(each.clock)] = root(moment.sightings.front().clock);
        for (const CommonTime& moment : moments_) {
            std::vector<uint32_t> seen;
            for (const Sighting& each : moment.sightings) {
                State& state = clocks_[each.clock];
                const double s = secondsOf(relative(each.endNs));
                state.firstS = std::min(state.firstS, s);
                state.lastS = std::max(state.lastS, s);
                if (std::find(seen.begin(), seen.end(), each.clock) == seen.end()) seen.push_back(each.clock);
            }
            if (seen.size() > 1)
                for (const uint32_t clock : seen) ++clocks_[clock].moments;
        }
        for (uint32_t clock = 1; clock < clocks_.size(); ++clock) {
            State& state = clocks_[clock];
            if (root(clock) != root(0)) state.moments = 0;
            if (state.moments == 0) continue;
            state.unknown = unknowns_;
            unknowns_ += 2;
        }
    }

    /// Returns one point per clock: the mean of its ranks.
    std::vector<Point> pointsOf(const CommonTime& moment) const {
        std::vector<Point> points;
        for (const Sighting& each : moment.sightings) {
            auto found = std::find_if(points.begin(), points.end(),
                                      [&each](const Point& point) { return point.clock == each.clock; });
            if (found == points.end()) {
                points.push_back({each.clock, 0, 0});
                found = std::prev(points.end());
            }
            found->weight += 1;
            found->timeNs += (relative(each.endNs) - found->timeNs) / found->weight;
        }
        return points;
    }

    /// Returns the mean of the event's ends by the current fit.
    double meanOf(const std::vector<Point>& points, const std::vector<double>& weights) const {
        double sum = 0, total = 0;
        for (size_t i = 0; i < points.size(); ++i) {
            sum += weights[i] * corrected(points[i].clock, points[i].timeNs);
            total += weights[i];
        }
        return total > 0 ? sum / total : 0;
    }

    /// Returns the weight of each point by its distance from the others. In the first round all
    /// weights are equal, as nothing is known.
    std::vector<double> weightsOf(const std::vector<Point>& points, int round) const {
        std::vector<double> weights;
        for (const Point& point : points) weights.push_back(point.weight);
        if (round == 0) return weights;
        std::vector<double> ends;
        for (const Point& point : points) ends.push_back(corrected(point.clock, point.timeNs));
        const double middle = points.size() > 2 ? upperMedianOf(ends) : std::midpoint(ends.front(), ends.back());
        for (size_t i = 0; i < points.size(); ++i) {
            const double u = (ends[i] - middle) / (6 * spreadNs_);
            weights[i] *= u * u < 1 ? (1 - u * u) * (1 - u * u) : 0;
        }
        return weights;
    }

    /// Does one round of least squares. Returns false if there is nothing to determine.
    bool solve(int round) {
        if (unknowns_ == 0) return false;
        NormalEquations equations(unknowns_);
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            addTime(equations, points, weightsOf(points, round));
        }
        // If events give little evidence of a drift, it is small; a lone event gives none.
        const double expected = typicalDrift * 1e9;
        const double noise = std::max(spreadNs_, minEndSpreadNs);
        for (size_t unknown = 0; unknown < unknowns_; unknown += 2) {
            equations.at(unknown, unknown) += 1e-12;
            equations.at(unknown + 1, unknown + 1) += noise * noise / (expected * expected);
        }
        for (const State& state : clocks_)
            if (state.unknown != SIZE_MAX)
                equations.right(state.unknown + 1) -= noise * noise / (expected * expected) * state.driftPerS;
        const std::vector<double> right = equations.right();
        if (!equations.decompose()) return false;
        const std::vector<double> change = equations.solved(right);
        for (State& state : clocks_)
            if (state.unknown != SIZE_MAX) {
                state.offsetNs += change[state.unknown];
                state.driftPerS += change[state.unknown + 1];
            }
        measureSpread();
        inverse_ = std::move(equations);
        return true;
    }

    /// The true time of an event is also unknown: eliminating it leaves the distances of its points from their mean.
    void addTime(NormalEquations& equations, const std::vector<Point>& points,
                 const std::vector<double>& weights) const {
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        if (!(total > 0)) return;
        const double mean = meanOf(points, weights);
        for (size_t i = 0; i < points.size(); ++i) {
            const size_t mine = clocks_[points[i].clock].unknown;
            if (mine == SIZE_MAX || weights[i] == 0) continue;
            const double s = secondsOf(points[i].timeNs);
            const double residual = corrected(points[i].clock, points[i].timeNs) - mean;
            equations.right(mine) -= weights[i] * residual;
            equations.right(mine + 1) -= weights[i] * residual * s;
            for (size_t j = 0; j < points.size(); ++j) {
                const size_t other = clocks_[points[j].clock].unknown;
                if (other == SIZE_MAX) continue;
                const double otherS = secondsOf(points[j].timeNs);
                const double share = (i == j ? weights[i] : 0) - weights[i] * weights[j] / total;
                equations.at(mine, other) += share;
                equations.at(mine, other + 1) += share * otherS;
                equations.at(mine + 1, other) += share * s;
                equations.at(mine + 1, other + 1) += share * s * otherS;
            }
        }
    }

    /// Computes the typical distance of an end from the others of its event, robust against few outliers.
    void measureSpread() {
        std::vector<double> distances;
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            std::vector<double> ends;
            for (const Point& point : points) ends.push_back(corrected(point.clock, point.timeNs));
            const double middle = points.size() > 2 ? upperMedianOf(ends) : std::midpoint(ends.front(), ends.back());
            for (const double end : ends) distances.push_back(std::abs(end - middle));
        }
        constexpr double normal = 1.4826;  // from a median of distances to a standard deviation
        spreadNs_ = std::max(minEndSpreadNs, normal * upperMedianOf(std::move(distances)));
    }

    /// Sets errors: three standard deviations where a clock is known worst, plus twice the spread for a common error of
    /// one clock's ranks. A GPU whose work always ends a little later, or whose times are converted to the host's with
    /// a small offset, looks like a clock that is ahead.
    void setErrors() {
        constexpr double inCommon = 2;
        for (State& state : clocks_) {
            if (state.unknown == SIZE_MAX) continue;
            std::vector<double> unit(unknowns_);
            unit[state.unknown] = 1;
            const std::vector<double> ofOffset = inverse_.solved(unit);
            unit[state.unknown] = 0;
            unit[state.unknown + 1] = 1;
            const std::vector<double> ofDrift = inverse_.solved(unit);
            double worst = 0;
            for (const double s : {state.firstS, state.lastS})
                worst = std::max(worst, ofOffset[state.unknown] + 2 * s * ofOffset[state.unknown + 1] +
                                            s * s * ofDrift[state.unknown + 1]);
            state.errorNs = 3 * spreadNs_ * std::sqrt(std::max(worst, 0.0)) + inCommon * spreadNs_;
        }
    }

    /// Returns the distance of each point from the others of its event, by clock and in order of time.
    std::vector<std::vector<ClockDistance>> distances() const {
        std::vector<std::vector<ClockDistance>> found(clocks_.size());
        std::vector<double> others;
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            for (const Point& point : points) {
                others.clear();
                for (const Point& each : points)
                    if (&each != &point) others.push_back(corrected(each.clock, each.timeNs));
                found[point.clock].push_back({originNs_ + std::llround(point.timeNs),
                                              corrected(point.clock, point.timeNs) - upperMedianOf(others)});
            }
        }
        for (auto& each : found) std::sort(each.begin(), each.end());
        return found;
    }

    /// Increases the error of a clock that is no line, since it was set or its rate was changed: it
    /// may be off by its distance from the others in any part of the time.
    void coverUnsteadiness() {
        const auto all = distances();
        for (size_t clock = 0; clock < clocks_.size(); ++clock) {
            const auto& own = all[clock];
            if (clocks_[clock].unknown == SIZE_MAX || own.size() < minEventsOfPart) continue;
            const size_t parts = std::min(maxParts, own.size() / minEventsOfPart);
            double worst = 0;
            for (size_t part = 0; part < parts; ++part) {
                std::vector<double> there;
                for (size_t at = part * own.size() / parts; at < (part + 1) * own.size() / parts; ++at)
                    there.push_back(std::abs(own[at].ns));
                worst = std::max(worst, upperMedianOf(std::move(there)));
            }
            // Up to here it is noise, which the error already includes.
            if (worst > 3 * spreadNs_) clocks_[clock].errorNs += 1.1 * worst;
        }
    }

    /// Finds the possible shift of each clock while all others stay.
    void findSlack() {
        for (State& state : clocks_) {
            state.minShiftNs = -unbounded;
            state.maxShiftNs = unbounded;
        }
        for (const CommonTime& moment : moments_) {
            if (!moment.isCausal) continue;
            TopTwo begins, ends;  // the maximum negative value of the first end
            for (const Sighting& each : moment.sightings) {
                begins.take(each.clock, corrected(each.clock, relative(each.beginNs)));
                ends.take(each.clock, -corrected(each.clock, relative(each.endNs)));
            }
            for (const Sighting& mine : moment.sightings) {
                State& state = clocks_[mine.clock];
                const double begin = corrected(mine.clock, relative(mine.beginNs));
                const double end = corrected(mine.clock, relative(mine.endNs));
                state.minShiftNs = std::max(state.minShiftNs, begins.butOf(mine.clock) - end);
                state.maxShiftNs = std::min(state.maxShiftNs, -ends.butOf(mine.clock) - begin);
            }
        }
    }

    /// Shifts clocks by the minimum that restores causality.
    void obeyCausality() {
        findSlack();
        for (uint32_t clock = 1; clock < clocks_.size(); ++clock) {
            State& state = clocks_[clock];
            if (state.unknown == SIZE_MAX || state.minShiftNs > state.maxShiftNs) continue;
            const double shift = std::clamp(0.0, state.minShiftNs, state.maxShiftNs);
            if (shift == 0) continue;
            state.offsetNs += shift;
            state.errorNs += std::abs(shift);
            findSlack();
        }
    }

    void countViolations(LineFit& fit) const {
        for (const CommonTime& moment : moments_) {
            if (!moment.isCausal) continue;
            double lastBegin = -unbounded, firstEnd = unbounded;
            for (const Sighting& each : moment.sightings) {
                lastBegin = std::max(lastBegin, corrected(each.clock, relative(each.beginNs)));
                firstEnd = std::min(firstEnd, corrected(each.clock, relative(each.endNs)));
            }
            ++fit.causalTimes;
            if (firstEnd + 1 < lastBegin) ++fit.violations;
        }
    }

    std::vector<State> clocks_;
    const std::vector<CommonTime>& moments_;
    std::vector<std::vector<Point>> points_;  ///< By moment.
    int64_t originNs_ = 0;
    size_t unknowns_ = 0;
    double spreadNs_ = 1000;
    NormalEquations inverse_{0};
};

}  // namespace

LineFit fitLines(uint32_t clockCount, const std::vector<CommonTime>& moments) {
    return LineFitter(clockCount, moments).fit();
}

}  // namespace lanescope
