// SPDX-License-Identifier: Apache-2.0
#include "model/merge/findSetting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace lanescope {

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

}  // namespace lanescope
