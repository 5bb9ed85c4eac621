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

namespace lanescope {

/// Equations of least squares: a matrix that is positive definite, and the right side.
class NormalEquations {
  public:
    explicit NormalEquations(size_t unknowns)
        : count_(unknowns), matrix_(unknowns * unknowns), right_(unknowns) {}

    double& at(size_t row, size_t column) { return matrix_[row * count_ + column]; }
    double& right(size_t row) { return right_[row]; }

    /// Decomposes the matrix, which is positive definite, into a triangle and its mirror.
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
    /// What times the matrix is `values`; after `decompose`.
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

/// What oscillators of computers stay below, mostly.
constexpr double usualDrift = 50e-6;
/// Ends of one moment are never known better than this.
constexpr double minEndSpreadNs = 20;
constexpr int rounds = 12;
/// Of the time that a clock is looked at in, by how steady it is, and moments in each.
constexpr size_t mostParts = 16, fewestOfPart = 8;

/// A sighting as the equations have it. Times are from an origin that all share, which keeps them
/// exact as `double`s for weeks.
struct Point {
    uint32_t clock = 0;
    double timeNs = 0;
    double weight = 1;
};

/// The greatest of values of several clocks, and the greatest of those of all others.
class Greatest {
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

double medianOf(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The unknowns are, for each clock but the first, its offset at the origin in ns and its drift in
/// ns by second.
class LineFitter {
  public:
    LineFitter(uint32_t clockCount, const std::vector<CommonMoment>& moments)
        : clocks_(clockCount), moments_(moments) {
        findOrigin();
        numberUnknowns();
        for (const CommonMoment& moment : moments) points_.push_back(pointsOf(moment));
    }

    LineFit fit() {
        LineFit fit;
        fit.clocks.resize(clocks_.size());
        // Few at first count as if they were outliers; what fits better with each round shows.
        for (int round = 0; round < rounds; ++round)
            if (!solve(round)) break;
        giveErrors();
        coverUnsteadiness();
        obeyCausality();
        fit.spreadNs = std::llround(spreadNs_);
        for (size_t clock = 0; clock < clocks_.size(); ++clock) {
            const State& state = clocks_[clock];
            FittedLine& out = fit.clocks[clock];
            out.line = {std::llround(state.offsetNs), originNs_, state.driftPerS * 1e-9};
            out.errorNs = std::llround(std::ceil(state.errorNs));
            out.moments = state.moments;
            if (state.leastNs > -unbounded && state.greatestNs < unbounded)
                out.slackNs =
                    TimeRange{std::llround(state.leastNs), std::llround(state.greatestNs)};
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
        size_t unknown = SIZE_MAX;  ///< Number of its first unknown; none: not to be found.
        double firstS = unbounded, lastS = -unbounded;
        double leastNs = -unbounded, greatestNs = unbounded;  ///< Shifts that causality allows.
    };

    double secondsOf(double timeNs) const { return timeNs * 1e-9; }
    double relative(int64_t timeNs) const { return static_cast<double>(timeNs - originNs_); }
    double corrected(uint32_t clock, double timeNs) const {
        const State& state = clocks_[clock];
        return timeNs + state.offsetNs + state.driftPerS * secondsOf(timeNs);
    }

    void findOrigin() {
        int64_t first = std::numeric_limits<int64_t>::max(),
                last = std::numeric_limits<int64_t>::min();
        for (const CommonMoment& moment : moments_)
            for (const Sighting& each : moment.sightings) {
                first = std::min(first, each.endNs);
                last = std::max(last, each.endNs);
            }
        if (first <= last) originNs_ = std::midpoint(first, last);
    }

    /// Only clocks that share a moment with the first, or with one that does, can be found.
    void numberUnknowns() {
        std::vector<uint32_t> group(clocks_.size());
        std::iota(group.begin(), group.end(), 0u);
        const auto root = [&group](uint32_t clock) {
            while (group[clock] != clock) clock = group[clock] = group[group[clock]];
            return clock;
        };
        for (const CommonMoment& moment : moments_)
            for (const Sighting& each : moment.sightings)
                group[root(each.clock)] = root(moment.sightings.front().clock);
        for (const CommonMoment& moment : moments_) {
            std::vector<uint32_t> seen;
            for (const Sighting& each : moment.sightings) {
                State& state = clocks_[each.clock];
                const double s = secondsOf(relative(each.endNs));
                state.firstS = std::min(state.firstS, s);
                state.lastS = std::max(state.lastS, s);
                if (std::find(seen.begin(), seen.end(), each.clock) == seen.end())
                    seen.push_back(each.clock);
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

    /// One point for each clock: the mean of its ranks.
    std::vector<Point> pointsOf(const CommonMoment& moment) const {
        std::vector<Point> points;
        for (const Sighting& each : moment.sightings) {
            auto found = std::find_if(points.begin(), points.end(), [&each](const Point& point) {
                return point.clock == each.clock;
            });
            if (found == points.end()) {
                points.push_back({each.clock, 0, 0});
                found = std::prev(points.end());
            }
            found->weight += 1;
            found->timeNs += (relative(each.endNs) - found->timeNs) / found->weight;
        }
        return points;
    }

    /// Mean of the moment's ends as they are understood so far.
    double meanOf(const std::vector<Point>& points, const std::vector<double>& weights) const {
        double sum = 0, total = 0;
        for (size_t i = 0; i < points.size(); ++i) {
            sum += weights[i] * corrected(points[i].clock, points[i].timeNs);
            total += weights[i];
        }
        return total > 0 ? sum / total : 0;
    }

    /// How far from the others each point lies, and what that lets it count. In the first round
    /// all count, as nothing is known.
    std::vector<double> weightsOf(const std::vector<Point>& points, int round) const {
        std::vector<double> weights;
        for (const Point& point : points) weights.push_back(point.weight);
        if (round == 0) return weights;
        std::vector<double> ends;
        for (const Point& point : points) ends.push_back(corrected(point.clock, point.timeNs));
        const double middle =
            points.size() > 2 ? medianOf(ends) : std::midpoint(ends.front(), ends.back());
        for (size_t i = 0; i < points.size(); ++i) {
            const double u = (ends[i] - middle) / (6 * spreadNs_);
            weights[i] *= u * u < 1 ? (1 - u * u) * (1 - u * u) : 0;
        }
        return weights;
    }

    /// One round of least squares. False if there is nothing to find.
    bool solve(int round) {
        if (unknowns_ == 0) return false;
        NormalEquations equations(unknowns_);
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            addMoment(equations, points, weightsOf(points, round));
        }
        // Where moments say little of a drift, it is small; a lone moment says nothing of it.
        const double expected = usualDrift * 1e9;
        const double noise = std::max(spreadNs_, minEndSpreadNs);
        for (size_t unknown = 0; unknown < unknowns_; unknown += 2) {
            equations.at(unknown, unknown) += 1e-12;
            equations.at(unknown + 1, unknown + 1) += noise * noise / (expected * expected);
        }
        for (const State& state : clocks_)
            if (state.unknown != SIZE_MAX)
                equations.right(state.unknown + 1) -=
                    noise * noise / (expected * expected) * state.driftPerS;
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

    /// The true time of a moment is unknown, too: what is left without it are the distances of its
    /// points from their mean.
    void addMoment(NormalEquations& equations, const std::vector<Point>& points,
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

    /// Typical distance of an end from the others of its moment, whatever few outliers do.
    void measureSpread() {
        std::vector<double> distances;
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            std::vector<double> ends;
            for (const Point& point : points) ends.push_back(corrected(point.clock, point.timeNs));
            const double middle =
                points.size() > 2 ? medianOf(ends) : std::midpoint(ends.front(), ends.back());
            for (const double end : ends) distances.push_back(std::abs(end - middle));
        }
        constexpr double normal = 1.4826;  // of a median of distances to a standard deviation
        spreadNs_ = std::max(minEndSpreadNs, normal * medianOf(std::move(distances)));
    }

    /// Three standard deviations where a clock is known worst, and twice the spread for what ranks
    /// of one clock may have in common: a GPU whose work ends a little later each time, or whose
    /// times are brought to the host's by a little too much, looks like a clock that is ahead.
    void giveErrors() {
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
                worst =
                    std::max(worst, ofOffset[state.unknown] + 2 * s * ofOffset[state.unknown + 1] +
                                        s * s * ofDrift[state.unknown + 1]);
            state.errorNs = 3 * spreadNs_ * std::sqrt(std::max(worst, 0.0)) + inCommon * spreadNs_;
        }
    }

    /// What each point is off from the others of its moment, by clock and in order of time.
    std::vector<std::vector<ClockDistance>> distances() const {
        std::vector<std::vector<ClockDistance>> found(clocks_.size());
        std::vector<double> others;
        for (const std::vector<Point>& points : points_) {
            if (points.size() < 2) continue;
            for (const Point& point : points) {
                others.clear();
                for (const Point& each : points)
                    if (&each != &point) others.push_back(corrected(each.clock, each.timeNs));
                found[point.clock].push_back(
                    {originNs_ + std::llround(point.timeNs),
                     corrected(point.clock, point.timeNs) - medianOf(others)});
            }
        }
        for (auto& each : found) std::sort(each.begin(), each.end());
        return found;
    }

    /// A clock that was set meanwhile, or whose rate was changed, is no line: it may be off by as
    /// much as it is from the others in any part of the time.
    void coverUnsteadiness() {
        const auto all = distances();
        for (size_t clock = 0; clock < clocks_.size(); ++clock) {
            const auto& own = all[clock];
            if (clocks_[clock].unknown == SIZE_MAX || own.size() < fewestOfPart) continue;
            const size_t parts = std::min(mostParts, own.size() / fewestOfPart);
            double worst = 0;
            for (size_t part = 0; part < parts; ++part) {
                std::vector<double> there;
                for (size_t at = part * own.size() / parts; at < (part + 1) * own.size() / parts;
                     ++at)
                    there.push_back(std::abs(own[at].ns));
                worst = std::max(worst, medianOf(std::move(there)));
            }
            // Up to here it is noise, of which the error tells already.
            if (worst > 3 * spreadNs_) clocks_[clock].errorNs += 1.1 * worst;
        }
    }

    /// By how much each clock may be shifted while all others stay.
    void findSlack() {
        for (State& state : clocks_) {
            state.leastNs = -unbounded;
            state.greatestNs = unbounded;
        }
        for (const CommonMoment& moment : moments_) {
            if (!moment.isCausal) continue;
            Greatest begins, ends;  // of the first end the greatest negative
            for (const Sighting& each : moment.sightings) {
                begins.take(each.clock, corrected(each.clock, relative(each.beginNs)));
                ends.take(each.clock, -corrected(each.clock, relative(each.endNs)));
            }
            for (const Sighting& mine : moment.sightings) {
                State& state = clocks_[mine.clock];
                const double begin = corrected(mine.clock, relative(mine.beginNs));
                const double end = corrected(mine.clock, relative(mine.endNs));
                state.leastNs = std::max(state.leastNs, begins.butOf(mine.clock) - end);
                state.greatestNs = std::min(state.greatestNs, -ends.butOf(mine.clock) - begin);
            }
        }
    }

    /// Shifts clocks by as little as makes what is impossible possible.
    void obeyCausality() {
        findSlack();
        for (uint32_t clock = 1; clock < clocks_.size(); ++clock) {
            State& state = clocks_[clock];
            if (state.unknown == SIZE_MAX || state.leastNs > state.greatestNs) continue;
            const double shift = std::clamp(0.0, state.leastNs, state.greatestNs);
            if (shift == 0) continue;
            state.offsetNs += shift;
            state.errorNs += std::abs(shift);
            findSlack();
        }
    }

    void countViolations(LineFit& fit) const {
        for (const CommonMoment& moment : moments_) {
            if (!moment.isCausal) continue;
            double lastBegin = -unbounded, firstEnd = unbounded;
            for (const Sighting& each : moment.sightings) {
                lastBegin = std::max(lastBegin, corrected(each.clock, relative(each.beginNs)));
                firstEnd = std::min(firstEnd, corrected(each.clock, relative(each.endNs)));
            }
            ++fit.causalMoments;
            if (firstEnd + 1 < lastBegin) ++fit.violations;
        }
    }

    std::vector<State> clocks_;
    const std::vector<CommonMoment>& moments_;
    std::vector<std::vector<Point>> points_;  ///< By moment.
    int64_t originNs_ = 0;
    size_t unknowns_ = 0;
    double spreadNs_ = 1000;
    NormalEquations inverse_{0};
};

}  // namespace

LineFit fitLines(uint32_t clockCount, const std::vector<CommonMoment>& moments) {
    return LineFitter(clockCount, moments).fit();
}

}  // namespace lanescope
