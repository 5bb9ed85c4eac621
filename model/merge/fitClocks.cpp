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

namespace lanescope {

/// Where a clock jumps against the others.
struct Jump {
    int64_t afterNs = 0, beforeNs = 0;  ///< Between two moments, by the clock.
    double byNs = 0;
    double sureness = 0;  ///< How many times what jumps by chance.
};

/// The surest jump in what a clock is off from the others, by time; nothing where it is no more
/// than noise, drift or some moments that do not fit. Told are jumps of several times what single
/// moments differ by, that are no nearer to an end of the time than some fifteenth of it: medians
/// of some moments in a row are laid on a line before and on one after, which one of eight of these
/// need not fit. O(n).
std::optional<Jump> findSetting(std::span<const ClockDistance> distances);

namespace {

/// Moments whose median is one value, as of so many of them altogether.
constexpr size_t fewestOfBlock = 3, mostOfBlock = 16, blocksOfTime = 60;
/// Values on either side that a line is laid through.
constexpr size_t fewestOfSide = 4, mostOfSide = 8;
/// A jump is this many times what single moments differ by, and what jumps by chance.
constexpr double leastOfSpread = 6, leastOfNoise = 10;
/// Moments are never known better than this.
constexpr double leastSpreadNs = 20;
/// Of the jump, by how much values of a side may be off its line.
constexpr double mostOff = 0.25;

double middleOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The moments of a block as one.
struct Value {
    double s = 0, ns = 0;
    size_t first = 0, end = 0;  ///< Of the distances.
};

/// Each `size` moments as one; the rest is spread over all.
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
        value.ns = middleOf(std::move(off));
        value.s = middleOf(std::move(at));
        values.push_back(value);
    }
    return values;
}

struct Line {
    double s = 0, ns = 0, nsPerS = 0;
    double at(double when) const { return ns + nsPerS * (when - s); }
};

/// By medians of slopes, so that one value of some may be anything.
Line lineThrough(std::span<const Value> values) {
    std::vector<double> slopes, at, off;
    for (size_t i = 0; i < values.size(); ++i)
        for (size_t j = i + 1; j < values.size(); ++j)
            if (values[j].s > values[i].s)
                slopes.push_back((values[j].ns - values[i].ns) / (values[j].s - values[i].s));
    Line line;
    line.s = values[values.size() / 2].s;
    line.nsPerS = slopes.empty() ? 0 : middleOf(std::move(slopes));
    for (const Value& value : values) off.push_back(value.ns - line.nsPerS * (value.s - line.s));
    line.ns = middleOf(std::move(off));
    return line;
}

/// How far values are from the line between their neighbours, as a standard deviation of one. Few
/// jumps change nothing.
double noiseOf(std::span<const Value> values) {
    std::vector<double> off;
    for (size_t i = 1; i + 1 < values.size(); ++i) {
        const double span = values[i + 1].s - values[i - 1].s;
        const double share = span > 0 ? (values[i].s - values[i - 1].s) / span : 0.5;
        off.push_back(
            std::abs(values[i].ns - values[i - 1].ns * (1 - share) - values[i + 1].ns * share));
    }
    constexpr double normal = 1.4826 / 1.2247;  // of a median of such distances
    return off.empty() ? 0 : normal * middleOf(std::move(off));
}

bool fits(std::span<const Value> values, const Line& line, double tolerance) {
    const auto off = std::count_if(values.begin(), values.end(), [&](const Value& value) {
        return std::abs(value.ns - line.at(value.s)) > tolerance;
    });
    return static_cast<size_t>(off) * mostOfSide <= values.size();
}

/// The place between two moments from which on they are nearer to the line behind.
size_t placeBetween(std::span<const ClockDistance> distances, size_t first, size_t end,
                    const Line& before, const Line& behind) {
    const auto sides = [&](size_t i) {
        const double s = static_cast<double>(distances[i].atNs - distances.front().atNs) * 1e-9;
        return std::array{std::abs(distances[i].ns - before.at(s)),
                          std::abs(distances[i].ns - behind.at(s))};
    };
    size_t best = first;
    double least = 0, sum = 0;
    for (size_t place = first; place < end; ++place) {
        const auto [left, right] = sides(place);
        sum += left < right ? -1 : 1;  // a vote each, whatever lies far from both
        if (sum < least) {
            least = sum;
            best = place + 1;
        }
    }
    return best;
}

}  // namespace

std::optional<Jump> findSetting(std::span<const ClockDistance> distances) {
    const std::vector<Value> values = valuesOf(
        distances, std::clamp(distances.size() / blocksOfTime, fewestOfBlock, mostOfBlock));
    if (values.size() < 2 * fewestOfSide + 1) return std::nullopt;
    const double spreadNs = std::max(noiseOf(valuesOf(distances, 1)), leastSpreadNs);
    const double noise = std::max(noiseOf(values), 0.1 * spreadNs);
    std::optional<Jump> surest;
    // The value at the place itself may be of both sides, and is of none.
    for (size_t place = fewestOfSide; place + fewestOfSide < values.size(); ++place) {
        const size_t first = place - std::min(place, mostOfSide);
        const size_t end = std::min(values.size(), place + 1 + mostOfSide);
        const std::span all(values);
        const auto left = all.subspan(first, place - first);
        const auto right = all.subspan(place + 1, end - place - 1);
        const Line before = lineThrough(left), behind = lineThrough(right);
        const double jump = behind.at(values[place].s) - before.at(values[place].s);
        const double size = std::abs(jump);
        if (size < leastOfSpread * spreadNs || size < leastOfNoise * noise ||
            (surest && size / noise <= surest->sureness) || !fits(left, before, mostOff * size) ||
            !fits(right, behind, mostOff * size))
            continue;
        const size_t from =
            placeBetween(distances, values[place - 1].first, values[place + 1].end, before, behind);
        if (from == 0 || from >= distances.size()) continue;
        surest = Jump{distances[from - 1].atNs, distances[from].atNs, jump, size / noise};
    }
    return surest;
}

namespace {

/// More is no clock that is set now and then.
constexpr size_t mostSettings = 32;

/// Each clock in pieces, of which each is fitted as a clock of its own. The first piece of the
/// first clock is what all are told by.
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
        own.insert(
            std::upper_bound(own.begin(), own.end(), jump,
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

    /// Number of the first piece of a clock; the others follow.
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

    std::vector<CommonMoment> momentsOf(const std::vector<CommonMoment>& moments) const {
        if (settingCount() == 0) return moments;
        std::vector<size_t> firsts;
        for (size_t clock = 0; clock < settings_.size(); ++clock) firsts.push_back(firstOf(clock));
        std::vector<CommonMoment> made = moments;
        for (CommonMoment& moment : made)
            for (Sighting& each : moment.sightings) {
                const size_t clock = each.clock;
                const auto placeOf = [this, clock](int64_t timeNs) {
                    const auto& own = settings_[clock];
                    return static_cast<size_t>(std::upper_bound(own.begin(), own.end(), timeNs,
                                                                [](int64_t ns, const Jump& jump) {
                                                                    return ns < timeOf(jump);
                                                                }) -
                                               own.begin());
                };
                // What began by one piece and ended by another says nothing of who was first.
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

/// The surest setting that no piece knows of yet. Of two clocks each is as sure of the other's;
/// then it is the one that is told by the other.
std::optional<Found> surestSetting(const LineFit& fit, const Pieces& pieces) {
    constexpr double clearly = 1.5;
    std::optional<Found> surest;
    for (size_t piece = 0; piece < fit.distances.size(); ++piece) {
        const auto jump = findSetting(fit.distances[piece]);
        if (!jump) continue;
        const size_t clock = pieces.clockOf(piece);
        const bool isOfFirst = surest && surest->clock == 0 && clock != 0;
        const double needed = !surest     ? 0
                              : isOfFirst ? surest->jump.sureness / clearly
                                          : surest->jump.sureness;
        if (jump->sureness > needed) surest = Found{clock, *jump};
    }
    return surest;
}

/// Whether all pieces are tied to the first.
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

LineFit fitPieces(const Pieces& pieces, const std::vector<CommonMoment>& moments) {
    return fitLines(static_cast<uint32_t>(pieces.count()), pieces.momentsOf(moments));
}

/// Looks for settings until there are no more, and takes back those without which nothing jumps:
/// where one clock was set, others that meet it often seem to have been set, too.
LineFit findSettings(const std::vector<CommonMoment>& moments, Pieces& pieces, size_t clockCount) {
    LineFit fit = fitPieces(pieces, moments);
    while (pieces.settingCount() < mostSettings) {
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
        // It showed more by as much less as the others then show more.
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

ClockFit fitClocks(uint32_t clockCount, const std::vector<CommonMoment>& moments) {
    Pieces pieces(clockCount);
    ClockFit out;
    if (clockCount == 0) return out;
    const LineFit fit = findSettings(moments, pieces, clockCount);
    for (size_t clock = 0; clock < clockCount; ++clock)
        out.clocks.push_back(joined(fit, pieces, clock));
    out.spreadNs = fit.spreadNs;
    out.violations = fit.violations;
    out.causalMoments = fit.causalMoments;
    return out;
}

}  // namespace lanescope
