// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/scales.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace lanescope::views {
namespace {

struct TimeUnit {
    int64_t ns;
    const char* name;
};
constexpr TimeUnit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "\u00b5s"}, {1, "ns"}};

// With more digits a label is not read but searched for the differing digit.
constexpr int64_t maxCountedSteps = 100'000;

int64_t niceStep(double atLeastNs) {
    int64_t power = 1;
    while (static_cast<double>(power) * 10 <= atLeastNs) power *= 10;
    for (const int64_t multiple : {1, 2, 5})
        if (static_cast<double>(power * multiple) >= atLeastNs) return power * multiple;
    return power * 10;
}

int64_t floorTo(int64_t value, int64_t step) {
    const int64_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

TimeUnit unitFor(int64_t durationNs) {
    for (const TimeUnit& unit : units)
        if (durationNs >= unit.ns) return unit;
    return units[3];
}

// Returns `timeNs` in `unit`, with exactly as many decimals as `resolutionNs` needs.
QString inUnit(int64_t timeNs, TimeUnit unit, int64_t resolutionNs, bool isGrouped) {
    const int64_t magnitude = std::abs(timeNs);
    QString text = QString::number(magnitude / unit.ns);
    if (isGrouped)
        for (qsizetype at = text.size() - 3; at > 0; at -= 3) text.insert(at, QChar(0x2009));
    QString decimals;
    int64_t rest = magnitude % unit.ns;
    for (int64_t place = unit.ns / 10; place > 0 && place * 10 > resolutionNs; place /= 10) {
        if (isGrouped && !decimals.isEmpty() && decimals.size() % 4 == 3) decimals += QChar(0x2009);
        decimals += QChar('0' + static_cast<int>(rest / place));
        rest %= place;
    }
    if (!decimals.isEmpty()) text += QChar('.') + decimals;
    return (timeNs < 0 ? QString(QChar(0x2212)) : QString()) + text + QChar(' ') + unit.name;
}

// Returns the largest power of ten that divides `timeNs`: the last digit to show.
int64_t resolutionOf(int64_t timeNs) {
    if (timeNs == 0) return units[0].ns;
    int64_t resolution = 1;
    while (timeNs % (resolution * 10) == 0 && resolution < units[0].ns) resolution *= 10;
    return resolution;
}

/// Upper ends of a lane of percentages. The lane ends at the smallest of them that no value exceeds, so that a rarely
/// busy GPU still shows its variation.
constexpr double roundPercents[] = {1, 2, 5, 10, 20, 50, 100};

/// A lane of temperatures or clocks begins above 0 if the minimum is above this share of the maximum.
constexpr double farFromZero = 0.25;

/// Returns the minimum and maximum of all counters in a range of each.
CounterColumn extremesOf(std::span<const ScaledCounter> counters, TimeRange ScaledCounter::*range) {
    CounterColumn all;
    for (const ScaledCounter& each : counters) {
        const CounterColumn own = each.series->extremesIn(each.*range);
        if (!own.hasValue) continue;
        all.minimum = all.hasValue ? std::min(all.minimum, own.minimum) : own.minimum;
        all.maximum = all.hasValue ? std::max(all.maximum, own.maximum) : own.maximum;
        all.hasValue = true;
    }
    return all;
}

}  // namespace

QString formatTime(int64_t timeNs) { return inUnit(timeNs, unitFor(std::abs(timeNs)), resolutionOf(timeNs), true); }

double pixelsPerLabel(const QFontMetrics& metrics) {
    constexpr int space = 16;
    return std::max<double>(minPixelsPerLabel, metrics.horizontalAdvance(QStringLiteral("+00000 ms")) + space);
}

TimeTicks timeTicks(TimeRange range, double pixelWidth, double pixelsPerLabel) {
    TimeTicks result;
    if (range.isEmpty() || !(pixelWidth >= 1)) return result;
    const double nsPerPixel = static_cast<double>(range.durationNs()) / pixelWidth;
    result.stepNs = std::max<int64_t>(1, niceStep(nsPerPixel * pixelsPerLabel));
    const int64_t maxAbsNs = std::max(std::abs(range.startNs), std::abs(range.endNs));
    if (maxAbsNs / result.stepNs > maxCountedSteps) {
        int64_t span = 1;
        while (span < range.durationNs()) span *= 10;
        result.hasAnchor = true;
        result.anchorNs = floorTo(range.startNs, span);
        result.anchorLabel = formatTime(result.anchorNs);
    }

    const int64_t leading = result.stepNs / static_cast<int64_t>(std::pow(
                                                10.0, std::floor(std::log10(static_cast<double>(result.stepNs)))));
    const int64_t parts = leading == 2 ? 4 : 5;
    const int64_t minorNs = result.stepNs % parts == 0 ? result.stepNs / parts : result.stepNs;
    const int64_t maxLabelNs = result.hasAnchor ? range.endNs - result.anchorNs : maxAbsNs;
    const TimeUnit unit = unitFor(std::max(result.stepNs, maxLabelNs / 1000));
    for (int64_t timeNs = floorTo(range.startNs, result.stepNs); timeNs < range.endNs; timeNs += minorNs) {
        if (timeNs < range.startNs && timeNs % result.stepNs != 0) continue;
        TimeTick tick{.timeNs = timeNs, .isMajor = timeNs % result.stepNs == 0};
        if (tick.isMajor) {
            tick.label = inUnit(timeNs - result.anchorNs, unit, result.stepNs, false);
            if (result.hasAnchor) tick.label.prepend(QChar('+'));
        }
        result.ticks.push_back(tick);
    }
    return result;
}

CounterScale scaleOf(std::span<const ScaledCounter> counters) {
    CounterScale scale;
    if (counters.empty()) return scale;
    const CounterUnit unit = counters.front().series->unit;
    CounterColumn all = extremesOf(counters, &ScaledCounter::visible);
    if (all.minimum == 0 && all.maximum == 0) all = extremesOf(counters, &ScaledCounter::whole);
    scale.minValue = std::min(0.0, all.minimum);
    scale.maxValue = all.maximum;
    if (unit == CounterUnit::Percent && all.maximum <= 100) {
        const bool isFlat = all.maximum <= 0;
        scale.maxValue =
            isFlat ? 100 : *std::lower_bound(std::begin(roundPercents), std::end(roundPercents), all.maximum);
    }
    const bool mayBeginAbove = unit == CounterUnit::Celsius || unit == CounterUnit::Hertz;
    if (mayBeginAbove && all.minimum > farFromZero * all.maximum && all.maximum > all.minimum) {
        // Slightly lower, so that the minimum is a line above the bottom.
        scale.minValue = all.minimum - 0.1 * (all.maximum - all.minimum);
    }
    if (scale.maxValue <= scale.minValue) scale.maxValue = scale.minValue + 1;
    return scale;
}

}  // namespace lanescope::views
