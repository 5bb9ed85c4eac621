// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitClocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/merge/fitLines.h"
#include "model/numbers/Statistics.h"

namespace lanescope {

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
std::optional<Jump> findSetting(std::span<const ClockDistance> distances);

namespace {

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
    Line line;
    line.s = values[values.size() / 2].s;
    line.nsPerS = upperMedianOf(std::move(slopes));
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
    const auto off = std::count_if(values.begin(), values.end(), [&](const Value& value) {
        return std::abs(value.ns - line.at(value.s)) > tolerance;
    });
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

}  // namespace

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

namespace {

/// More are not a clock that is set now and then.
constexpr size_t maxSettings = 32;

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
        own.insert(std::upper_bound(own.begin(), own.end(), jump,
                                    [](const Jump& a, const Jump& b) { return a.afterNs < b.afterNs; }),
                   jump);
    }
    Jump remove(size_t clock, size_t place) {
        const auto at = settings_[clock].begin() + static_cast<std::ptrdiff_t>(place);
        const Jump jump = *at;
        settings_[clock].erase(at);
        return jump;
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
                const auto placeOf = [this, clock](int64_t timeNs) {
                    const auto& own = settings_[clock];
                    return static_cast<size_t>(
                        std::upper_bound(own.begin(), own.end(), timeNs,
                                         [](int64_t ns, const Jump& jump) { return ns < timeOf(jump); }) -
                        own.begin());
                };
                // An event that began in one piece and ended in another has no order.
                if (placeOf(each.beginNs) != placeOf(each.endNs)) moment.isCausal = false;
                each.clock = static_cast<uint32_t>(firsts[clock] + placeOf(each.endNs));
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
        return std::count_if(each.clocks.begin(), each.clocks.end(),
                             [](const FittedLine& one) { return one.moments > 0; });
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
    static_cast<ClockLine&>(out.map) = begin.line;
    out.errorNs = begin.errorNs;
    out.moments = begin.moments;
    out.slackNs = begin.slackNs;
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

ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonTime>& moments) {
    Pieces pieces(clockCount);
    ClockFit out;
    if (clockCount == 0) return out;
    const LineFit fit = findSettings(moments, pieces, clockCount);
    for (size_t clock = 0; clock < clockCount; ++clock) out.clocks.push_back(joined(fit, pieces, clock));
    out.spreadNs = fit.spreadNs;
    out.violations = fit.violations;
    out.causalTimes = fit.causalTimes;
    return out;
}

}  // namespace lanescope
