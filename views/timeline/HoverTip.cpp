// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/HoverTip.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/text/formatTable.h"
#include "model/trace/counterReadings.h"
#include "model/trace/kinds/workModules.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"
#include "views/theme/texts.h"
#include "views/timeline/scales.h"

namespace lanescope::views {
namespace {

constexpr int widest = 440;
constexpr int inset = 10;
constexpr int colorBar = 4;
constexpr int distance = 16;  // from the pointer
constexpr int laneGap = 4;    // from the described lane
constexpr int maxTitleLines = 4;
constexpr int titleFlags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWrapAnywhere;

QString nameOf(const Trace& trace, const Lane& lane, uint32_t slice) {
    const EventRef event = lane.event[slice];
    const QString name =
        event.isValid() ? QString::fromStdString(trace.nameOf(event)) : toQString(trace.strings.at(lane.name[slice]));
    if (!name.isEmpty()) return name;
    return event.isValid() ? QStringLiteral("(no name)") : QStringLiteral("Busy");
}

/// Returns the source and interval: "NVML, every 100 ms".
QString sourceText(const CounterSeries& counter) {
    if (counter.key == mfuKey) return QStringLiteral("tensor activity times SM clock, of the peak");
    if (counter.key.starts_with(computedPrefix)) return QStringLiteral("computed from its events");
    static const std::pair<const char*, const char*> names[] = {{"nvml", "NVML"},
                                                                {"gpm", "NVML's GPU performance monitor"},
                                                                {"pm", "CUPTI PM sampling"},
                                                                {"host", "the operating system"}};
    QString source;
    for (const auto& [name, title] : names)
        if (counter.source == name) source = QString::fromUtf8(title);
    if (source.isEmpty()) source = toQString(counter.source);
    // Repeated equal values are not all stored, so the recorded interval is more accurate than the samples.
    int64_t everyNs = counter.intervalNs;
    if (everyNs == 0 && counter.size() >= 2)
        everyNs = (counter.timeNs(counter.size() - 1) - counter.timeNs(0)) / (counter.size() - 1);
    if (source.isEmpty() || everyNs == 0) return source;
    return QStringLiteral("%1, every %2").arg(source, shortDuration(everyNs));
}

QString absenceOf(TrackKind kind) {
    switch (kind) {
        case TrackKind::Gpu: return QStringLiteral("No GPU work");
        case TrackKind::Stream: return QStringLiteral("No work in this stream");
        case TrackKind::StreamProjection: return QStringLiteral("No range with work in this stream");
        case TrackKind::ThreadNvtx: return QStringLiteral("No range");
        case TrackKind::ThreadApi: return QStringLiteral("No CUDA call");
        case TrackKind::Process:
        case TrackKind::Thread: return QStringLiteral("No recorded call or range");
        case TrackKind::ThreadStates:
        case TrackKind::ThreadStacks: return QStringLiteral("No sample");
        default: return QStringLiteral("No event");
    }
}

/// An end of an empty interval.
struct Bound {
    int64_t timeNs = 0;
    QString what;  ///< Next to it; empty for a slice.
};

/// The empty interval around a time.
struct Bounds {
    int64_t timeNs = 0;
    Bound from, to;

    /// Ends the interval at a range before or after the time.
    void add(TimeRange range, const QString& what) {
        if (range.endNs <= timeNs && range.endNs >= from.timeNs) from = {range.endNs, what};
        if (range.startNs > timeNs && range.startNs <= to.timeNs) to = {range.startNs, what};
    }
};

}  // namespace

void HoverTip::setContent(const QString& title, const QString& detail, const QColor& color) {
    title_ = title;
    detail_ = detail;
    color_ = color;
}

void HoverTip::place(QPoint pointer, QRect bounds, const QFont& font, QRect lane) {
    if (!lane.isValid()) lane = QRect(pointer, QSize(1, 1));
    const QFontMetrics bold(strong(font));
    const QFontMetrics plain(font);
    const int room = std::min(widest, bounds.width() - 2 * inset - colorBar - 8);
    if (!isVisible() || room < 40) {
        rectangle_ = {};
        return;
    }
    QRect title = bold.boundingRect(QRect(0, 0, room, 10'000), titleFlags, title_);
    title.setHeight(std::min(title.height(), maxTitleLines * bold.lineSpacing()));
    const QRect detail = plain.boundingRect(QRect(0, 0, room, 10'000), Qt::AlignLeft, detail_);
    const QSize size(std::max(title.width(), detail.width()) + 2 * inset + colorBar + 2,
                     title.height() + 4 + detail.height() + 2 * inset - 4);

    QPoint at(pointer.x() + distance, std::max(pointer.y() + distance, lane.bottom() + laneGap));
    if (at.x() + size.width() > bounds.right() - 4) at.setX(pointer.x() - distance - size.width());
    if (at.y() + size.height() > bounds.bottom() - 4)
        at.setY(std::min(pointer.y() - distance, lane.top() - laneGap) - size.height());
    at.setX(std::clamp(at.x(), bounds.left() + 4, std::max(bounds.left() + 4, bounds.right() - size.width())));
    at.setY(std::clamp(at.y(), bounds.top() + 4, std::max(bounds.top() + 4, bounds.bottom() - size.height())));
    rectangle_ = QRect(at, size);
    titleArea_ = QRect(at + QPoint(inset + colorBar, inset - 2), QSize(title.width() + 2, title.height()));
    detailArea_ = QRect(QPoint(titleArea_.left(), titleArea_.bottom() + 5), QSize(detail.width() + 2, detail.height()));
}

void HoverTip::paint(QPainter& painter, const QFont& font, const Theme& theme) const {
    if (!isVisible() || rectangle_.isEmpty()) return;
    painter.fillRect(rectangle_, theme.separator);
    painter.fillRect(rectangle_.adjusted(1, 1, -1, -1), theme.card);
    painter.fillRect(QRect(rectangle_.topLeft(), QSize(colorBar, rectangle_.height())), color_);
    drawText(painter, strong(font), theme.text, titleArea_, titleFlags, title_);
    drawText(painter, font, theme.mutedText, detailArea_, int(Qt::AlignLeft | Qt::AlignTop), detail_);
}

HoverText hoverText(const Trace& trace, LanePosition position, uint32_t slice, const PixelSlice* drawn,
                    int64_t timeOriginNs) {
    const Lane& lane = trace.tracks[position.track].lanes[position.lane];
    HoverText text{
        .title = nameOf(trace, lane, slice),
        .detail = QStringLiteral("%1   at %2")
                      .arg(shortDuration(lane.durationNs[slice]), formatTime(lane.startNs[slice] - timeOriginNs))};
    if (!drawn || drawn->sliceCount <= 1) {
        const std::string line = pythonLine(trace, lane.event[slice]);
        if (!line.empty()) text.detail += QLatin1Char('\n') + QString::fromStdString(line);
        return text;
    }
    const uint32_t widest = widestOf(lane, *drawn);
    text.detail =
        QStringLiteral("widest: %1, %2\nhere: %3, %4")
            .arg(nameOf(trace, lane, widest), shortDuration(lane.durationNs[widest]), text.title, text.detail);
    text.title = QStringLiteral("%1 % busy, %2 slices")
                     .arg(std::lround(double(drawn->coverage) * 100))
                     .arg(QString::fromStdString(formatCount(drawn->sliceCount)));
    return text;
}

HoverText counterText(const CounterSeries& counter, uint32_t sample, const CounterColumn& drawn, int64_t timeOriginNs) {
    const auto shown = [&counter](double value) { return QString::fromStdString(formatCounter(value, counter.unit)); };
    const TimeRange held = counter.rangeOf(sample);
    HoverText text;
    const bool isOverLong = meanOver(counter, sample).has_value();
    text.title = QStringLiteral("%1: %2%3%4")
                     .arg(QString::fromStdString(counter.name), isOverLong ? QStringLiteral("mean ") : QString(),
                          shown(counter.value(sample)),
                          isOverLong ? QStringLiteral(" over ") + shortDuration(held.durationNs()) : QString());
    text.detail =
        QStringLiteral("for %1 from %2").arg(shortDuration(held.durationNs()), formatTime(held.startNs - timeOriginNs));
    if (isOverLong) text.detail += QStringLiteral("\nno finer resolution available");
    if (drawn.hasValue && drawn.minimum < drawn.maximum)
        text.detail += QStringLiteral("\nbetween %1 and %2 here; zoom in to separate them")
                           .arg(shown(drawn.minimum), shown(drawn.maximum));
    const QString source = sourceText(counter);
    if (!source.isEmpty()) text.detail += QLatin1Char('\n') + source;
    return text;
}

std::optional<HoverText> unrecordedText(const Track& track, int64_t timeNs, int64_t toleranceNs, int64_t timeOriginNs) {
    const auto find = [&](const std::vector<TimeRange>& ranges, int64_t nearbyNs) {
        return std::find_if(ranges.begin(), ranges.end(), [&](const TimeRange& range) {
            return timeNs >= range.startNs - nearbyNs && timeNs < range.endNs + nearbyNs;
        });
    };
    const auto say = [&](const QString& title, const TimeRange& range) {
        return HoverText{title,
                         QStringLiteral("from %1 to %2")
                             .arg(formatTime(range.startNs - timeOriginNs), formatTime(range.endNs - timeOriginNs))};
    };
    if (const auto found = find(track.lossy, std::max<int64_t>(1, toleranceNs)); found != track.lossy->end())
        return say(QStringLiteral("Some of this was lost"), *found);
    if (const auto found = find(track.unrecorded, 0); found != track.unrecorded->end())
        return say(QStringLiteral("Not recorded"), *found);
    return std::nullopt;
}

std::optional<HoverText> emptyText(const TimelineState& state, const LayoutRow& row, int64_t timeNs) {
    const Track& track = state.trace()->tracks[row.track];
    const TimeRange whole = state.trace()->timelineRange();
    Bounds bounds{timeNs,
                  {whole.startNs, QStringLiteral("the start of the trace")},
                  {whole.endNs, QStringLiteral("the end of the trace")}};
    bool hasLane = false;
    for (int each = 0; each < row.laneCount; ++each) {
        const LanePosition position{row.track, static_cast<uint32_t>(each)};
        if (state.lanes().counterAt(position)) return std::nullopt;
        const Lane& lane = state.lanes().laneAt(position);
        hasLane = true;
        const auto after = std::upper_bound(lane.startNs.begin(), lane.startNs.end(), timeNs);
        const auto slice = static_cast<uint32_t>(after - lane.startNs.begin());
        if (slice > 0 && lane.endNs(slice - 1) > timeNs) return std::nullopt;
        if (slice > 0) bounds.add({lane.startNs[slice - 1], lane.endNs(slice - 1)}, {});
        if (slice < lane.size()) bounds.add({lane.startNs[slice], whole.endNs}, {});
    }
    if (!hasLane || timeNs < whole.startNs || timeNs >= whole.endNs) return std::nullopt;
    // Absence is known only as far as everything was recorded.
    for (const TimeRange& range : *track.unrecorded) bounds.add(range, QStringLiteral("unrecorded time"));
    for (const TimeRange& range : *track.lossy) bounds.add(range, QStringLiteral("lost data"));
    const auto& [from, to] = std::pair(bounds.from, bounds.to);
    if (to.timeNs <= from.timeNs) return std::nullopt;
    const auto text = [&state](const Bound& bound) {
        const QString time = formatTime(bound.timeNs - state.range().origin());
        return bound.what.isEmpty() ? time : QStringLiteral("%1 (%2)").arg(time, bound.what);
    };
    return HoverText{QStringLiteral("%1 for %2").arg(absenceOf(track.kind), shortDuration(to.timeNs - from.timeNs)),
                     QStringLiteral("from %1 to %2").arg(text(from), text(to))};
}

QString emptySentence(const Trace* trace) {
    if (!trace) return QStringLiteral("No trace is open. Open one from the File menu, or drop it here.");
    return QStringLiteral("%1 holds no events with a time, so there is nothing to draw.")
        .arg(QString::fromStdString(trace->title.empty() ? std::string("This trace") : trace->title));
}

}  // namespace lanescope::views
