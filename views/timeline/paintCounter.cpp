// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/paintCounter.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "model/trace/counterReadings.h"
#include "views/text/shortDuration.h"
#include "views/timeline/paintWarnings.h"

namespace lanescope::views {
namespace {

constexpr double topInset = 3;
constexpr double lineWidth = 1.5;
constexpr double fillShare = 0.38;  // of the line's colour over the canvas
constexpr double paleShare = 0.22;  // of a mean over a long time
constexpr double dotLength = 3;     // at the edge of such a mean
constexpr double labelInset = 4;

void paintValue(QPainter& painter, const QString& text, QRectF plate, const Theme& theme) {
    QColor veil = theme.canvas;
    veil.setAlpha(200);
    painter.fillRect(plate, veil);
    painter.drawText(plate, Qt::AlignCenter, text);
}

/// The values at the ends of a scale and their places.
struct ScaleTexts {
    QFont font;
    std::vector<std::pair<QString, QRectF>> texts;
};

ScaleTexts scaleTexts(QFont font, const CounterSeries& counter, const CounterScale& scale, const QRectF& area,
                      CounterGrowth growth) {
    ScaleTexts result;
    // Without a value the ends of the scale have no meaning.
    if (!counter.hasValue()) return result;
    if (font.pointSizeF() > 0) font.setPointSizeF(font.pointSizeF() * 0.9);
    result.font = font;
    const QFontMetricsF metrics(font);
    const auto plateOf = [&](const QString& text) {
        return QRectF(area.left(), 0, metrics.horizontalAdvance(text) + 2 * labelInset, metrics.height());
    };
    const auto isFitting = [&](const QRectF& plate, double lines) {
        return lines * plate.height() <= area.height() && plate.width() <= area.width() / 3;
    };
    const bool growsUp = growth == CounterGrowth::Up;
    // If all values are 0, the top of the lane has no meaning; then the bottom is labelled.
    const bool isFlat = counter.maximum() == 0 && scale.minValue == 0;
    const double named = isFlat ? 0 : scale.maxValue;
    const bool isRound = counter.unit == CounterUnit::Percent && named == std::floor(named);
    const QString maxValue =
        isRound ? QStringLiteral("%1 %").arg(named) : QString::fromStdString(formatCounter(named, counter.unit));
    QRectF plate = plateOf(maxValue);
    plate.moveTop(growsUp != isFlat ? area.top() + 1 : area.bottom() - plate.height() - 1);
    if (isFitting(plate, 1)) result.texts.emplace_back(maxValue, plate);
    if (scale.minValue != 0) {
        const QString minValue = QString::fromStdString(formatCounter(scale.minValue, counter.unit));
        plate = plateOf(minValue);
        plate.moveTop(growsUp ? area.bottom() - plate.height() : area.top() + 1);
        if (isFitting(plate, 2)) result.texts.emplace_back(minValue, plate);
    }
    return result;
}

void paintScale(QPainter& painter, const ScaleTexts& scale, const Theme& theme) {
    painter.save();
    painter.setFont(scale.font);
    painter.setPen(theme.mutedText);
    for (const auto& [text, plate] : scale.texts) paintValue(painter, text, plate, theme);
    painter.restore();
}

/// Returns the duration over which equal columns around `timeNs` are a mean instead of a value of
/// `shown`; nullopt for sampled values.
std::optional<int64_t> meanAround(const CounterSeries& counter, const CounterColumn& column, int64_t timeNs,
                                  TimeRange shown) {
    if (column.minimum < column.maximum) return std::nullopt;
    const std::optional<uint32_t> sample = counter.sampleAt(timeNs);
    return sample ? meanOver(counter, *sample, shown.durationNs()) : std::nullopt;
}

/// Paints a mean over a long time: a pale band with a dotted edge, labelled with its duration next to the scale.
void paintMean(QPainter& painter, const CounterSeries& counter, double value, int64_t overNs, const QRectF& band,
               const QRectF& lane, CounterGrowth growth, const ScaleTexts& scale, const Theme& theme) {
    const QColor line = theme.colorOf(SliceCategory::Counter);
    painter.fillRect(band, Theme::mix(theme.canvas, line, paleShare));
    const double edge = growth == CounterGrowth::Up ? band.top() : band.bottom() - 1;
    for (double x = std::ceil(band.left() / (2 * dotLength)) * 2 * dotLength; x + dotLength <= band.right();
         x += 2 * dotLength)
        painter.fillRect(QRectF(x, edge, dotLength, 1), Theme::mix(theme.canvas, line, 0.8));
    const QString text = QStringLiteral("mean %1 over %2")
                             .arg(QString::fromStdString(formatCounter(value, counter.unit)), shortDuration(overNs));
    const QFontMetricsF metrics(painter.font());
    const double width = metrics.horizontalAdvance(text) + 2 * labelInset;
    if (width > band.width() || 2 * width > lane.width() || metrics.height() > lane.height()) return;
    QRectF plate(band.center().x() - width / 2, lane.center().y() - metrics.height() / 2, width, metrics.height());
    for (const auto& [end, place] : scale.texts)
        if (place.adjusted(0, 0, labelInset, 0).intersects(plate)) plate.moveLeft(place.right() + labelInset);
    if (plate.right() > band.right()) return;
    painter.setPen(theme.mutedText);
    paintValue(painter, text, plate, theme);
}

/// Returns true if the value at `timeNs` is unknown, so that an empty place is not 0. Computed
/// counters have no value before the first event; sampled ones were not sampled there.
bool isUnknownAt(const CounterSeries& counter, int64_t timeNs) {
    if (!counter.source.empty()) return true;
    return !counter.isEmpty() && timeNs >= counter.timeNs(0) && timeNs < counter.endNs();
}

}  // namespace

double counterY(const CounterScale& scale, double value, const QRectF& area, CounterGrowth growth) {
    const double share = std::clamp((value - scale.minValue) / (scale.maxValue - scale.minValue), 0.0, 1.0);
    const double height = share * (area.height() - topInset);
    return growth == CounterGrowth::Up ? area.bottom() - height : area.top() + height;
}

void paintCounter(QPainter& painter, OpaqueFill& opaque, const CounterSeries& counter, const CounterScale& scale,
                  const std::vector<CounterColumn>& columns, TimeRange shown, const QRectF& area, CounterGrowth growth,
                  double devicePixelRatio, const Theme& theme) {
    const QRgb line = theme.colorOf(SliceCategory::Counter).rgb();
    const QRgb fill = Theme::mix(theme.canvas, line, fillShare).rgb();
    const bool growsUp = growth == CounterGrowth::Up;
    const double foot = growsUp ? area.bottom() : area.top();
    const double headLine = growsUp ? area.top() + topInset - 1 : area.bottom() - topInset;
    painter.fillRect(QRectF(area.left(), headLine, area.width(), 1), theme.grid);
    const double nsPerColumn =
        static_cast<double>(shown.durationNs()) / static_cast<double>(std::max<size_t>(1, columns.size()));
    const ScaleTexts ends = scaleTexts(painter.font(), counter, scale, area, growth);
    // A bar from one height to another with a min height.
    const auto bar = [](double left, double width, double from, double to, double minValue) {
        const double top = std::min(from, to);
        return QRectF(left, top, width, std::max(minValue, std::abs(to - from)));
    };
    for (size_t first = 0; first < columns.size();) {
        // Equal columns become one rectangle: on a remote display each one costs.
        size_t next = first + 1;
        while (next < columns.size() && columns[next] == columns[first]) ++next;
        const CounterColumn& column = columns[first];
        const double left = area.left() + static_cast<double>(first) / devicePixelRatio;
        const double width = static_cast<double>(next - first) / devicePixelRatio;
        const double middle = static_cast<double>(first + next) / 2;
        first = next;
        if (!column.hasValue) {
            const auto timeNs = shown.startNs + static_cast<int64_t>(middle * nsPerColumn);
            if (isUnknownAt(counter, timeNs))
                paintUnknown(painter, QRectF(left, area.top(), width, area.height()), theme);
            continue;
        }
        const double head = counterY(scale, column.maximum, area, growth);
        const auto middleNs = shown.startNs + static_cast<int64_t>(middle * nsPerColumn);
        if (const auto overNs = meanAround(counter, column, middleNs, shown)) {
            const QRectF band = bar(left, width, foot, head, 1);
            paintMean(painter, counter, column.maximum, *overNs, band, area, growth, ends, theme);
            continue;
        }
        const double low = counterY(scale, column.minimum, area, growth);
        opaque.fill(bar(left, width, foot, head, 0), fill);
        // A line of constant width for close values, within the area.
        const double lineEnd = growsUp ? std::min(std::max(head + lineWidth, low), area.bottom())
                                       : std::max(std::min(head - lineWidth, low), area.top());
        const double lineStart = growsUp ? std::min(head, lineEnd - 1) : std::max(head, lineEnd + 1);
        opaque.fill(bar(left, width, lineStart, lineEnd, 1), line);
    }
    paintScale(painter, ends, theme);
}

}  // namespace lanescope::views
