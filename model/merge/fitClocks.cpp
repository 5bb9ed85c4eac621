// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitClocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "model/numbers/Statistics.h"

namespace lanescope {

namespace {

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
                if (std::ranges::find(seen, each.clock) == seen.end()) seen.push_back(each.clock);
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
            auto found =
                std::ranges::find_if(points, [&each](const Point& point) { return point.clock == each.clock; });
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

    /// Returns the distance of each end from the middle one.
    std::vector<double> fromMiddle(const std::vector<Point>& points) const {
        std::vector<double> ends;
        for (const Point& point : points) ends.push_back(corrected(point.clock, point.timeNs));
        const double middle = points.size() > 2 ? upperMedianOf(ends) : std::midpoint(ends.front(), ends.back());
        for (double& end : ends) end -= middle;
        return ends;
    }

    /// Returns the weight of each point by its distance from the others. In the first round all
    /// weights are equal, as nothing is known.
    std::vector<double> weightsOf(const std::vector<Point>& points, int round) const {
        std::vector<double> weights = mapped(points, &Point::weight);
        if (round == 0) return weights;
        const std::vector<double> off = fromMiddle(points);
        for (size_t i = 0; i < points.size(); ++i) {
            const double u = off[i] / (6 * spreadNs_);
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
        if (!equations.decompose()) return false;
        const std::vector<double> change = equations.solved(equations.right());
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
            for (const double off : fromMiddle(points)) distances.push_back(std::abs(off));
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
        for (auto& each : found) std::ranges::sort(each);
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

/// Events whose median is one value, depending on their total number.
constexpr size_t minEventsInBlock = 3, maxEventsInBlock = 16, blocksOfTime = 60;
/// Values on either side through which a line is fitted.
constexpr size_t minValuesOfSide = 4, maxValuesOfSide = 8;
/// Minimum ratio of a jump to the spread of single events, and to chance jumps.
constexpr double minSpreadRatio = 6, minNoiseRatio = 10;
/// Events are never known better than this.
constexpr double minSpreadNs = 20;
/// Maximum distance of a side's values from its line, relative to the jump.
constexpr double maxDistanceShare = 0.25;

/// The events of a block as one.
struct Value {
    double s = 0, ns = 0;
    size_t first = 0, end = 0;  ///< Indices of the distances.
};

/// Combines each `size` events into one; the remainder is spread over all.
std::vector<Value> valuesOf(std::span<const ClockDistance> distances, size_t size) {
    const size_t count = distances.size() / size;
    std::vector<Value> values;
    for (size_t block = 0; block < count; ++block) {
        Value value{0, 0, block * distances.size() / count, (block + 1) * distances.size() / count};
        std::vector<double> off, at;
        for (size_t i = value.first; i < value.end; ++i) {
            off.push_back(distances[i].ns);
            at.push_back(static_cast<double>(distances[i].atNs - distances.front().atNs) * 1e-9);
        }
        value.ns = upperMedianOf(std::move(off));
        value.s = upperMedianOf(std::move(at));
        values.push_back(value);
    }
    return values;
}

struct Line {
    double s = 0, ns = 0, nsPerS = 0;
    double at(double when) const { return ns + nsPerS * (when - s); }
};

/// Fits by medians of slopes, so that some values may be outliers.
Line lineThrough(std::span<const Value> values) {
    std::vector<double> slopes, at, off;
    for (size_t i = 0; i < values.size(); ++i)
        for (size_t j = i + 1; j < values.size(); ++j)
            if (values[j].s > values[i].s)
                slopes.push_back((values[j].ns - values[i].ns) / (values[j].s - values[i].s));
    Line line{.s = values[values.size() / 2].s, .nsPerS = upperMedianOf(std::move(slopes))};
    for (const Value& value : values) off.push_back(value.ns - line.nsPerS * (value.s - line.s));
    line.ns = upperMedianOf(std::move(off));
    return line;
}

/// Returns the distance of values from the line between their neighbours, as a standard deviation.
/// Few jumps do not affect it.
double noiseOf(std::span<const Value> values) {
    std::vector<double> off;
    for (size_t i = 1; i + 1 < values.size(); ++i) {
        const double span = values[i + 1].s - values[i - 1].s;
        const double share = span > 0 ? (values[i].s - values[i - 1].s) / span : 0.5;
        off.push_back(std::abs(values[i].ns - values[i - 1].ns * (1 - share) - values[i + 1].ns * share));
    }
    constexpr double normal = 1.4826 / 1.2247;  // for a median of such distances
    return normal * upperMedianOf(std::move(off));
}

bool fits(std::span<const Value> values, const Line& line, double tolerance) {
    const auto off = std::ranges::count_if(
        values, [&](const Value& value) { return std::abs(value.ns - line.at(value.s)) > tolerance; });
    return static_cast<size_t>(off) * maxValuesOfSide <= values.size();
}

/// Returns the place between two events from which on they are nearer to the later line.
size_t placeBetween(std::span<const ClockDistance> distances, size_t first, size_t end, const Line& before,
                    const Line& after) {
    const auto sides = [&](size_t i) {
        const double s = static_cast<double>(distances[i].atNs - distances.front().atNs) * 1e-9;
        return std::array{std::abs(distances[i].ns - before.at(s)), std::abs(distances[i].ns - after.at(s))};
    };
    size_t best = first;
    double least = 0, sum = 0;
    for (size_t place = first; place < end; ++place) {
        const auto [left, right] = sides(place);
        sum += left < right ? -1 : 1;  // one vote each, however far from both
        if (sum < least) {
            least = sum;
            best = place + 1;
        }
    }
    return best;
}

/// Maximum settings of a clock. More settings are not a clock that is set now and then.
constexpr size_t maxSettings = 32;

/// A jump of a clock against the others.
struct Jump {
    int64_t afterNs = 0, beforeNs = 0;  ///< Between two events, by the clock.
    double byNs = 0;
    double sureness = 0;  ///< Ratio to chance jumps.
};

/// Returns the most certain jump in a clock's distance from the others, over time. Returns nullopt if the distances are
/// no more than noise, drift or single outliers. Detected jumps are several times the spread of single events, and no
/// nearer to an end than some fifteenth of the time. Medians of consecutive events are fitted by one line before and
/// one after, which one in eight need not match. O(n).
std::optional<Jump> findSetting(std::span<const ClockDistance> distances) {
    const std::vector<Value> values =
        valuesOf(distances, std::clamp(distances.size() / blocksOfTime, minEventsInBlock, maxEventsInBlock));
    if (values.size() < 2 * minValuesOfSide + 1) return std::nullopt;
    const double spreadNs = std::max(noiseOf(valuesOf(distances, 1)), minSpreadNs);
    const double noise = std::max(noiseOf(values), 0.1 * spreadNs);
    std::optional<Jump> surest;
    // The value at the place itself may be of both sides, and belongs to neither.
    for (size_t place = minValuesOfSide; place + minValuesOfSide < values.size(); ++place) {
        const size_t first = place - std::min(place, maxValuesOfSide);
        const size_t end = std::min(values.size(), place + 1 + maxValuesOfSide);
        const std::span all(values);
        const auto left = all.subspan(first, place - first);
        const auto right = all.subspan(place + 1, end - place - 1);
        const Line before = lineThrough(left), after = lineThrough(right);
        const double jump = after.at(values[place].s) - before.at(values[place].s);
        const double size = std::abs(jump);
        if (size < minSpreadRatio * spreadNs || size < minNoiseRatio * noise ||
            (surest && size / noise <= surest->sureness) || !fits(left, before, maxDistanceShare * size) ||
            !fits(right, after, maxDistanceShare * size))
            continue;
        const size_t from = placeBetween(distances, values[place - 1].first, values[place + 1].end, before, after);
        if (from == 0 || from >= distances.size()) continue;
        surest = Jump{distances[from - 1].atNs, distances[from].atNs, jump, size / noise};
    }
    return surest;
}

/// Splits each clock into pieces, each fitted as a clock of its own. The first piece of the first
/// clock is the reference.
class Pieces {
  public:
    explicit Pieces(uint32_t clockCount) : settings_(clockCount) {}

    size_t count() const {
        size_t all = settings_.size();
        for (const auto& each : settings_) all += each.size();
        return all;
    }
    size_t settingCount() const { return count() - settings_.size(); }
    const std::vector<Jump>& settingsOf(size_t clock) const { return settings_[clock]; }
    void add(size_t clock, const Jump& jump) {
        auto& own = settings_[clock];
        own.insert(std::ranges::upper_bound(own, jump.afterNs, {}, &Jump::afterNs), jump);
    }
    void remove(size_t clock, size_t place) {
        settings_[clock].erase(settings_[clock].begin() + static_cast<std::ptrdiff_t>(place));
    }
    static int64_t timeOf(const Jump& jump) { return std::midpoint(jump.afterNs, jump.beforeNs); }

    /// Returns the number of the first piece of a clock; the others follow.
    size_t firstOf(size_t clock) const {
        size_t first = clock;
        for (size_t before = 0; before < clock; ++before) first += settings_[before].size();
        return first;
    }
    size_t clockOf(size_t piece) const {
        size_t clock = 0;
        while (clock + 1 < settings_.size() && firstOf(clock + 1) <= piece) ++clock;
        return clock;
    }

    std::vector<CommonTime> clockTimesOf(const std::vector<CommonTime>& moments) const {
        if (settingCount() == 0) return moments;
        std::vector<size_t> firsts;
        for (size_t clock = 0; clock < settings_.size(); ++clock) firsts.push_back(firstOf(clock));
        std::vector<CommonTime> made = moments;
        for (CommonTime& moment : made)
            for (Sighting& each : moment.sightings) {
                const size_t clock = each.clock;
                const auto placeOf = [&own = settings_[clock]](int64_t timeNs) {
                    return std::ranges::upper_bound(own, timeNs, {}, timeOf) - own.begin();
                };
                // An event that began in one piece and ended in another has no order.
                if (placeOf(each.beginNs) != placeOf(each.endNs)) moment.isCausal = false;
                each.clock = static_cast<uint32_t>(firsts[clock]) + static_cast<uint32_t>(placeOf(each.endNs));
            }
        return made;
    }

  private:
    std::vector<std::vector<Jump>> settings_;  ///< By clock, ascending.
};

struct Found {
    size_t clock = 0;
    Jump jump;
};

/// Returns the most certain setting not yet in the pieces. Two clocks are equally certain about
/// each other's; then it is attributed to the one that is not the reference.
std::optional<Found> surestSetting(const LineFit& fit, const Pieces& pieces) {
    constexpr double clearly = 1.5;
    std::optional<Found> surest;
    for (size_t piece = 0; piece < fit.distances.size(); ++piece) {
        const auto jump = findSetting(fit.distances[piece]);
        if (!jump) continue;
        const size_t clock = pieces.clockOf(piece);
        const bool isOfFirst = surest && surest->clock == 0 && clock != 0;
        const double needed = !surest ? 0 : isOfFirst ? surest->jump.sureness / clearly : surest->jump.sureness;
        if (jump->sureness > needed) surest = Found{clock, *jump};
    }
    return surest;
}

/// Returns true if all pieces are connected to the first.
bool isKnown(const LineFit& fit, const LineFit& before, const Pieces& pieces, size_t clock) {
    const size_t first = pieces.firstOf(clock);
    for (size_t piece = first; piece <= first + pieces.settingsOf(clock).size(); ++piece)
        if (piece != 0 && fit.clocks[piece].moments == 0) return false;
    const auto found = [](const LineFit& each) {
        return std::ranges::count_if(each.clocks, [](const FittedLine& one) { return one.moments > 0; });
    };
    return found(fit) > found(before);
}

LineFit fitPieces(const Pieces& pieces, const std::vector<CommonTime>& moments) {
    return fitLines(static_cast<uint32_t>(pieces.count()), pieces.clockTimesOf(moments));
}

/// Adds settings until there are no more, then removes those without which nothing jumps: if one
/// clock was set, others that share many events with it often appear to have been set, too.
LineFit findSettings(const std::vector<CommonTime>& moments, Pieces& pieces, size_t clockCount) {
    LineFit fit = fitPieces(pieces, moments);
    while (pieces.settingCount() < maxSettings) {
        const auto found = surestSetting(fit, pieces);
        if (!found) break;
        Pieces more = pieces;
        more.add(found->clock, found->jump);
        LineFit better = fitPieces(more, moments);
        if (!isKnown(better, fit, more, found->clock)) break;
        pieces = std::move(more);
        fit = std::move(better);
    }
    if (pieces.settingCount() < 2) return fit;
    for (size_t clock = 0; clock < clockCount; ++clock)
        for (size_t place = 0; place < pieces.settingsOf(clock).size();) {
            Pieces less = pieces;
            less.remove(clock, place);
            LineFit without = fitPieces(less, moments);
            if (surestSetting(without, less)) {
                ++place;
                continue;
            }
            pieces = std::move(less);
            fit = std::move(without);
        }
    return fit;
}

FittedClock joined(const LineFit& fit, const Pieces& pieces, size_t clock) {
    const size_t first = pieces.firstOf(clock);
    const FittedLine& begin = fit.clocks[first];
    FittedClock out;
    static_cast<FitPrecision&>(out) = begin;
    static_cast<ClockLine&>(out.map) = begin.line;
    for (const Jump& jump : pieces.settingsOf(clock)) {
        const FittedLine& next = fit.clocks[first + out.settings.size() + 1];
        const int64_t atNs = Pieces::timeOf(jump);
        const ClockLine& before = out.map.later.empty() ? out.map : out.map.later.back().line;
        // Its step is the opposite of the others' apparent step.
        out.settings.push_back({jump.afterNs, jump.beforeNs, before.at(atNs) - next.line.at(atNs)});
        out.map.later.push_back({atNs, next.line});
        out.errorNs = std::max(out.errorNs, next.errorNs);
        out.moments += next.moments;
        if (out.slackNs && next.slackNs)
            out.slackNs = TimeRange{std::max(out.slackNs->startNs, next.slackNs->startNs),
                                    std::min(out.slackNs->endNs, next.slackNs->endNs)};
        else if (next.slackNs)
            out.slackNs = next.slackNs;
    }
    return out;
}

}  // namespace

LineFit fitLines(uint32_t clockCount, const std::vector<CommonTime>& moments) {
    return LineFitter(clockCount, moments).fit();
}

ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonTime>& moments) {
    Pieces pieces(clockCount);
    if (clockCount == 0) return {};
    const LineFit fit = findSettings(moments, pieces, clockCount);
    ClockFit out;
    static_cast<FitQuality&>(out) = fit;
    for (size_t clock = 0; clock < clockCount; ++clock) out.clocks.push_back(joined(fit, pieces, clock));
    return out;
}

}  // namespace lanescope
