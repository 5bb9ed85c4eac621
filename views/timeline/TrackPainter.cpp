// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackPainter.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "model/text/knownRangeName.h"
#include "model/trace/counterReadings.h"
#include "views/text/shownText.h"
#include "views/theme/texts.h"
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
    painter.fillRect(plate, translucent(theme.canvas, 200));
    painter.drawText(plate, Qt::AlignCenter, text);
}

/// The values at the ends of a scale and their places.
struct ScaleTexts {
    QFont font;
    std::vector<std::pair<QString, QRectF>> texts;
};

ScaleTexts scaleTexts(const QFont& font, const CounterSeries& counter, const CounterScale& scale, const QRectF& area,
                      CounterGrowth growth) {
    ScaleTexts result;
    // Without a value the ends of the scale have no meaning.
    if (!counter.hasValue()) return result;
    result.font = resized(font, 0.9);
    const QFontMetricsF metrics(result.font);
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

// No label is longer on any screen, and a name in a corrupt file may be megabytes long.
constexpr size_t maxCharacters = 512;
constexpr qsizetype minCharactersBeforeEllipsis = 2;  // fewer letters are unreadable
const QString ellipsis(QChar(0x2026));

const QRegularExpression& numberAtEnd() {
    static const QRegularExpression pattern(QStringLiteral("[ _#:=./-]\\d{1,6}$"));
    return pattern;
}

// Sparse runs must stay visible, so they never get fainter than this.
constexpr double minCoverageShare = 0.35;
constexpr double minBarHeightPx = 12;
// The perforation of merged slices.
constexpr double holeStep = 4, holeSize = 2;

constexpr double minLabelWidthPx = 20;
constexpr double minRunLabelWidthPx = 40;
constexpr double maxRunGapPx = 3;  // between slices that are named together
constexpr double minEdgeWidthPx = 5;
// Share of the colour of slices without the highlighted name.
constexpr double fadedShare = 0.6;
constexpr double litEdge = 2;

bool isGpuTrack(TrackKind kind) {
    return kind == TrackKind::Gpu || kind == TrackKind::Stream || kind == TrackKind::StreamProjection;
}

bool isOnScreen(const LaneArea& area, const TrackScroll::Band& band) {
    const int top = area.top - band.scrollY;
    return top + area.height > band.top && top < band.bottom;
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

void LabelCache::reset(const StringTable* strings, const QFont& font) {
    strings_ = strings;
    metrics_ = QFontMetricsF(font);
    QFont unhinted = font;
    unhinted.setHintingPreference(QFont::PreferNoHinting);
    unhinted_ = QFontMetricsF(unhinted);
    fullWidth_.clear();
    fitted_.clear();
    stems_.clear();
}

QString LabelCache::textOf(StringIndex name) const {
    const std::string_view whole = strings_->at(name).substr(0, maxCharacters);
    const std::string known = knownRangeName(whole);
    const std::string_view bytes = known.empty() ? whole : std::string_view(known);
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size())).simplified();
}

bool LabelCache::areOfOneSeries(StringIndex one, StringIndex other) {
    if (one == other) return true;
    if (!strings_) return false;
    const auto stemOf = [this](StringIndex name) {
        if (const auto known = stems_.constFind(name); known != stems_.constEnd()) return *known;
        QString stem = textOf(name);
        stem.removeIf([](QChar each) { return each.isDigit(); });
        return *stems_.insert(name, qHash(stem));
    };
    return stemOf(one) == stemOf(other);
}

QString LabelCache::fittedSeries(StringIndex first, StringIndex last, uint32_t count, double width) const {
    if (!strings_) return {};
    const QString from = textOf(first), to = textOf(last);
    const QString number = QStringLiteral(" (%1)").arg(count);
    if (from == to) {
        if (widthOf(from + number) <= width) return from + number;
    } else {
        const QString until = QStringLiteral(" \u2026 ");
        const QString lastNumber = to.mid(to.lastIndexOf(numberAtEnd()) + 1);
        for (const QString& text :
             {QString(from + until + to + number), QString(from + until + to), QString(from + until + lastNumber)})
            if (widthOf(text) <= width) return text;
    }
    const QString alone = number.trimmed();
    return widthOf(alone) <= width ? alone : QString();
}

const QString& LabelCache::fitted(StringIndex name, double width) {
    static const QString nothing;
    if (!strings_) return nothing;
    if (fitted_.size() > maxEntries) fitted_.clear();
    auto full = fullWidth_.find(name);
    if (full == fullWidth_.end()) full = fullWidth_.insert(name, widthOf(textOf(name)));
    const bool fits = *full <= width;
    // A number has the width of few pixels.
    const quint32 step = width < 4 * stepPixels ? 1 : stepPixels;
    const quint32 rounded = static_cast<quint32>(width) / step * step;
    const quint64 key = quint64{name} << 32 | (fits ? 0 : rounded + 1);
    auto found = fitted_.find(key);
    if (found == fitted_.end()) found = fitted_.insert(key, fits ? textOf(name) : cut(textOf(name), rounded));
    return *found;
}

double LabelCache::widthOf(const QString& text) const {
    // On fractionally scaled screens letters are not hinted and differ from the measured width.
    return std::max(metrics_.horizontalAdvance(text), unhinted_.horizontalAdvance(text));
}

QString LabelCache::cut(const QString& text, double width) const {
    // "step 10" and "step 11" must not both become "step": a number at the end stays.
    if (const qsizetype separator = text.lastIndexOf(numberAtEnd()); separator >= 0) {
        const QString number = text.mid(separator + 1);
        const double room = width - widthOf(ellipsis + number);
        qsizetype count = 0;
        while (count < separator && widthOf(text.left(count + 1)) <= room) ++count;
        // Most of the name, or only its number: "tra…2" next to "3" reads like two things.
        if (room >= 0 && count > minCharactersBeforeEllipsis && 3 * count >= 2 * separator)
            return text.left(count) + ellipsis + number;
        return widthOf(number) <= width ? number : QString();
    }
    // In proportion, as if the wider of the two renderings were measured here.
    const double share = metrics_.horizontalAdvance(text) / std::max(1.0, widthOf(text));
    const QString elided = metrics_.elidedText(text, Qt::ElideRight, width * share);
    return elided.size() > minCharactersBeforeEllipsis ? elided : QString();
}

RunPainter::RunPainter(OpaqueFill& fill, const QRectF& area, QRgb background)
    : fill_(fill), area_(area), background_(background), isTall_(area.height() >= minBarHeightPx) {
    for (int level = 1; level < levelCount; ++level)
        heights_[static_cast<size_t>(level)] = std::max(1.0, std::round(area.height() * level / levelCount));
    heights_[levelCount] = area.height();
}

void RunPainter::flush() {
    const double width = right_ - left_;
    if (width <= 0) return;
    if (isTall_) {
        const double height = heights_[static_cast<size_t>(level_)];
        if (level_ < levelCount)
            fill_.fill(QRectF(left_, area_.top(), width, area_.height() - height),
                       blended(background_, color_, minCoverageShare));
        fill_.fill(QRectF(left_, area_.bottom() - height, width, height), color_);
        if (level_ == levelCount && width >= 2 * holeStep) {
            for (double x = std::ceil(left_ / holeStep) * holeStep; x + holeSize <= right_; x += holeStep)
                fill_.fill(QRectF(x, area_.top(), holeSize, holeSize), background_);
        }
    } else {
        const double share = double(level_) / levelCount;
        fill_.fill(QRectF(left_, area_.top(), width, area_.height()),
                   blended(background_, color_, minCoverageShare + (1 - minCoverageShare) * share));
    }
    right_ = left_;
}

void TrackPainter::reset(const QFont& font) {
    // Slightly smaller than the track titles: slices are many, and titles come first.
    font_ = resized(font, 0.92);
    geometry_.setTrace(state_.trace());
    colors_.reset(state_.trace(), state_.options().theme(), state_.options().colorMode());
    labels_.reset(state_.trace() ? &state_.trace()->strings : nullptr, font_);
    const QFontMetricsF metrics(font_);
    baseline_ = (metrics.ascent() - metrics.descent()) / 2;
    // Letters may touch the edges of a lane, but not those of a folded one.
    minLabelHeight_ = metrics.ascent() + metrics.descent() / 2;
}

void TrackPainter::setBaselineOverlay(const TimelineState* other) {
    baselineOverlay_ = other;
    baselineGeometry_.setTrace(other ? other->trace() : nullptr);
}

void TrackPainter::paint(QPainter& painter, QSize size, double devicePixelRatio) {
    painter.fillRect(QRectF(QPointF(), QSizeF(size)), state_.options().theme().canvas);
    paintRows(painter, size, devicePixelRatio);
}

void TrackPainter::paintRows(QPainter& painter, QSize size, double devicePixelRatio) {
    ratio_ = devicePixelRatio;
    const Theme& theme = state_.options().theme();
    if (!state_.hasTracks()) return;
    const int pixelWidth = static_cast<int>(std::lround(size.width() * ratio_));
    if (baselineOverlay_) baselineGeometry_.setView(baselineOverlay_->range().visible(), pixelWidth);
    geometry_.setView(state_.range().visible(), pixelWidth);
    prepareLanes(size);
    painter.setFont(font_);

    for (const TrackScroll::Band& band : state_.scroll().bands(size.height())) {
        if (band.bottom <= band.top) continue;
        painter.save();
        painter.setClipRect(QRect(0, band.top, size.width(), band.bottom - band.top), Qt::IntersectClip);
        paintBand(painter, band, size);
        painter.restore();
    }
    const int pinned = state_.scroll().pinnedHeight();
    if (pinned > 0) painter.fillRect(QRect(0, pinned - 2, size.width(), 2), theme.mutedText);
}

void TrackPainter::prepareLanes(QSize size) {
    std::vector<LanePosition> lanes;
    std::vector<uint32_t> counters;
    for (const TrackScroll::Band& band : state_.scroll().bands(size.height()))
        for (const LayoutRow& row : band.rows)
            TrackLayout::forEachLane(row, [&](LanePosition position, const LaneArea& area) {
                if (!isOnScreen(area, band)) return;
                if (state_.lanes().counterAt(position))
                    counters.push_back(state_.lanes().counterIndexAt(position));
                else
                    lanes.push_back(position);
            });
    geometry_.prepare(lanes, counters);
}

void TrackPainter::paintBand(QPainter& painter, const TrackScroll::Band& band, QSize size) {
    const Theme& theme = state_.options().theme();
    const auto bandOf = [&](const LayoutRow& row) { return theme.bandAt(state_.trace()->tracks[row.track].depth); };
    for (const LayoutRow& row : band.rows) {
        if (!row.isHeader) continue;
        painter.fillRect(QRectF(0, row.top - band.scrollY, size.width(), row.height), bandOf(row));
    }
    for (const LayoutRow& row : band.rows)
        paintGrid(painter, size, row.top - band.scrollY, row.bottom() - band.scrollY);
    paintUnrecorded(painter, state_, band, size);
    Brush brush{painter, OpaqueFill(painter)};
    for (const LayoutRow& row : band.rows) {
        const QRgb background = (row.isHeader ? bandOf(row) : theme.canvas).rgb();
        TrackLayout::forEachLane(row, [&](LanePosition position, const LaneArea& lane) {
            if (!isOnScreen(lane, band)) return;
            // The pixel between two lanes, or half a pixel between two squeezed ones.
            const double gap = lane.height >= 8 ? 1 : 0.5;
            const QRectF area(0, lane.top - band.scrollY, size.width(), lane.height - gap);
            paintLane(brush, position, area, background);
            if (baselineOverlay_ && !row.isHeader) paintBaselineOverlay(painter, position, area);
        });
        if (state_.tracks().isUnmatched(row.track)) {
            QColor veil = theme.canvas;
            veil.setAlphaF(0.6F);
            painter.fillRect(QRectF(0, row.top - band.scrollY, size.width(), row.height), veil);
        }
        painter.fillRect(QRectF(0, row.bottom() - band.scrollY - 1, size.width(), 1), theme.separator);
    }
    paintEnds(painter, state_, band, size);
}

void TrackPainter::paintGrid(QPainter& painter, QSize size, int top, int bottom) const {
    const TimeScale scale = state_.range().scale(size.width());
    const TimeRange shown = state_.range().axis().range();
    const double perLabel = pixelsPerLabel(QFontMetrics(font_));
    for (const TimeTick& tick : timeTicks(shown, size.width(), perLabel).ticks) {
        if (!tick.isMajor) continue;
        const double x = std::floor(scale.toX(tick.timeNs + state_.range().origin()));
        painter.fillRect(QRectF(x, top, 1, bottom - top), state_.options().theme().grid);
    }
}

void TrackPainter::paintLane(Brush& brush, LanePosition position, const QRectF& area, QRgb background) {
    if (const CounterSeries* counter = state_.lanes().counterAt(position)) {
        paintCounter(brush.painter, brush.fill, *counter, state_.counterScale(position),
                     geometry_.columns(state_.lanes().counterIndexAt(position)), state_.range().visible(), area,
                     position.lane == 0 ? CounterGrowth::Up : CounterGrowth::Down, ratio_, state_.options().theme());
        return;
    }
    const Lane& lane = state_.lanes().laneAt(position);
    const std::vector<PixelSlice>& slices = geometry_.rectangles(position);
    if (slices.empty()) return;
    // As `Lane::isSummary`, but of slices that were read.
    if (slices.front().category == SliceCategory::Busy) {
        if (position.lane == 0 && paintParts(brush.fill, position.track, area)) return;
        const bool isGpu = isGpuTrack(state_.trace()->tracks[position.track].kind);
        paintActivity(brush.fill, slices, area,
                      (isGpu ? state_.options().theme().busyGpu : state_.options().theme().busyCpu).rgb());
        return;
    }

    const StringIndex lit = state_.selection().highlightedName();
    const double perPixel = 1 / ratio_;
    RunPainter runs(brush.fill, area, background);
    const bool isNamed = area.height() >= minLabelHeight_;
    std::vector<Run> named;
    Run run;
    const auto endRun = [&] {
        if (!run.isEmpty() && run.isSeries && run.endSlice - run.firstSlice > 1 &&
            run.right - run.left >= minRunLabelWidthPx)
            named.push_back(run);
        run = {};
    };
    for (const PixelSlice& slice : slices) {
        const double left = slice.left * perPixel;
        const double right = slice.right * perPixel;
        const SliceColors::DrawnSlice drawn{slice.firstSlice, slice.category, slice.name};
        const bool isSingle = slice.sliceCount == 1;
        const bool isLit = lit != 0 && slice.name == lit;
        const bool isFaded = lit != 0 && !isLit;
        QRgb color = isSingle ? colors_.fillOf(lane, drawn) : colors_.fillOfRun(lane, drawn);
        if (isFaded) color = blended(background, color, fadedShare);
        if (isSingle && right - left >= minEdgeWidthPx) {
            runs.flush();
            endRun();
            paintSlice(brush, slice.name, QRectF(left, area.top(), right - left, area.height()), color, isLit);
        } else {
            runs.add(left, right, color, slice.coverage);
            const bool isRange = slice.category == SliceCategory::Nvtx || slice.category == SliceCategory::Projection;
            if (!isNamed || !isRange) continue;
            if (!run.isEmpty() && left - run.right > maxRunGapPx) endRun();
            extend(run, lane, slice);
        }
    }
    runs.flush();
    endRun();
    for (const Run& each : named) paintRunLabel(brush.painter, each, lane, area);
    if (state_.selection().hits()) paintHits(brush.fill, position, slices, area);
}

void TrackPainter::extend(Run& run, const Lane& lane, const PixelSlice& slice) {
    if (run.isEmpty()) run = {slice.left / ratio_, 0, slice.firstSlice, slice.firstSlice};
    // One look per pixel is enough: other names among them are shorter ones.
    run.isSeries = run.isSeries && labels_.areOfOneSeries(lane.name[run.firstSlice], slice.name);
    run.right = slice.right / ratio_;
    run.endSlice = slice.firstSlice + slice.sliceCount;
}

/// On a plate, unlike the name of a single slice.
void TrackPainter::paintRunLabel(QPainter& painter, const Run& run, const Lane& lane, const QRectF& area) {
    const double left = std::max(run.left, area.left()), right = std::min(run.right, area.right());
    const StringIndex last = lane.name[run.endSlice - 1];
    if (!labels_.areOfOneSeries(lane.name[run.firstSlice], last)) return;
    const QString text = labels_.fittedSeries(lane.name[run.firstSlice], last, run.endSlice - run.firstSlice,
                                              right - left - 4 * labelInset);
    if (text.isEmpty()) return;
    const Theme& theme = state_.options().theme();
    const QFontMetricsF metrics(font_);
    const double height = std::min(metrics.height(), area.height() - 2);
    painter.fillRect(QRectF(left + labelInset, area.center().y() - height / 2,
                            metrics.horizontalAdvance(text) + 2 * labelInset, height),
                     translucent(theme.canvas, 215));
    painter.setPen(theme.text);
    painter.drawText(QPointF(left + 2 * labelInset, area.center().y() + baseline_), text);
}

void TrackPainter::paintSlice(Brush& brush, StringIndex name, const QRectF& rectangle, QRgb color, bool isLit) {
    OpaqueFill& fill = brush.fill;
    fill.fill(rectangle, color);
    const QRectF& r = rectangle;
    if (isLit && r.height() >= 3 * litEdge && r.width() >= 4 * litEdge) {
        const QRgb ink = state_.options().theme().text.rgb();
        fill.fill(QRectF(r.left(), r.top(), r.width(), litEdge), ink);
        fill.fill(QRectF(r.left(), r.bottom() - litEdge, r.width(), litEdge), ink);
        fill.fill(QRectF(r.left(), r.top(), 1, r.height()), ink);
        fill.fill(QRectF(r.right() - 1, r.top(), 1, r.height()), ink);
    } else if (r.left() > 0) {
        // None at the window's edge: there the slice goes on.
        fill.fill(QRectF(r.left(), r.top(), 1, r.height()), colors_.edgeOf(color));
    }
    if (r.width() >= minLabelWidthPx && r.height() >= minLabelHeight_) paintLabel(brush.painter, name, r, color);
}

void TrackPainter::paintBaselineOverlay(QPainter& painter, LanePosition lane, const QRectF& area) {
    const uint32_t track = state_.tracks().counterpartOf(lane.track);
    if (!baselineOverlay_->hasTracks() || track >= baselineOverlay_->trace()->tracks.size()) return;
    if (lane.lane >= baselineOverlay_->trace()->tracks[track].lanes.size()) return;
    QColor ink = state_.options().theme().text;
    for (const PixelSlice& slice : baselineGeometry_.rectangles({track, lane.lane})) {
        const QRectF shape(slice.left / ratio_, area.top(), (slice.right - slice.left) / ratio_, area.height());
        if (slice.sliceCount == 1 && shape.width() >= minEdgeWidthPx) {
            ink.setAlphaF(0.75F);
            painter.fillRect(QRectF(shape.left(), shape.top(), shape.width(), 1), ink);
            painter.fillRect(QRectF(shape.left(), shape.bottom() - 1, shape.width(), 1), ink);
            painter.fillRect(QRectF(shape.left(), shape.top(), 1, shape.height()), ink);
            painter.fillRect(QRectF(shape.right() - 1, shape.top(), 1, shape.height()), ink);
            continue;
        }
        // Many small ones: a bar at the bottom of the lane, so that the slices above stay readable.
        ink.setAlphaF(0.25F + 0.5F * slice.coverage);
        const double height = std::min(3.0, area.height() / 3);
        painter.fillRect(QRectF(shape.left(), shape.bottom() - height, shape.width(), height), ink);
    }
}

void TrackPainter::paintActivity(OpaqueFill& fill, const std::vector<PixelSlice>& slices, const QRectF& area,
                                 QRgb color) const {
    for (const PixelSlice& slice : slices) {
        const double height = std::max(1.0, std::round(area.height() * double(slice.coverage)));
        const double left = slice.left / ratio_;
        fill.fill(QRectF(left, area.bottom() - height, slice.right / ratio_ - left, height), color);
    }
}

bool TrackPainter::paintParts(OpaqueFill& fill, uint32_t track, const QRectF& area) {
    const Track& which = state_.trace()->tracks[track];
    if (which.kind != TrackKind::Gpu || !state_.gpuParts()) return false;
    const auto count = static_cast<size_t>(std::max(1.0, std::round(area.width() * ratio_)));
    if (!state_.gpuParts()(which.subject, state_.range().visible(), count, columns_)) return false;
    const double width = area.width() / static_cast<double>(count);
    for (size_t column = 0; column < count; ++column) {
        const int64_t wholeNs = columns_[column].sum();
        if (wholeNs <= 0) continue;
        // Rounded from sums, so that neither a gap nor an extra pixel remains.
        int64_t sumNs = 0;
        double bottom = area.bottom();
        for (size_t part = 0; part < analysis::stepPartCount; ++part) {
            if (columns_[column].ns[part] <= 0) continue;
            sumNs += columns_[column].ns[part];
            const double share = static_cast<double>(sumNs) / static_cast<double>(wholeNs);
            const double top = area.bottom() - std::round(area.height() * share);
            if (top < bottom)
                fill.fill(QRectF(area.left() + width * static_cast<double>(column), top, width, bottom - top),
                          state_.options().theme().parts[part].rgb());
            bottom = std::min(bottom, top);
        }
    }
    return true;
}

void TrackPainter::paintHits(OpaqueFill& fill, LanePosition position, const std::vector<PixelSlice>& slices,
                             const QRectF& area) const {
    const double bar = std::max(1.0, std::min(3.0, area.height() / 4));
    const QRgb color = state_.options().theme().searchHit.rgb();
    double left = 0, right = 0;
    const auto flush = [&] {
        if (right > left) fill.fill(QRectF(left, area.bottom() - bar, right - left, bar), color);
    };
    for (const PixelSlice& slice : slices) {
        if (!state_.selection().hits()->touches(position.track, position.lane, slice.firstSlice, slice.sliceCount))
            continue;
        if (slice.left / ratio_ > right) {
            flush();
            left = slice.left / ratio_;
        }
        right = slice.right / ratio_;
    }
    flush();
}

void TrackPainter::paintLabel(QPainter& painter, StringIndex name, const QRectF& slice, QRgb fill) {
    const QString& label = labels_.fitted(name, slice.width() - 2 * labelInset);
    if (label.isEmpty()) return;
    painter.setPen(QColor::fromRgb(colors_.textOn(fill)));
    painter.drawText(QPointF(slice.left() + labelInset, slice.center().y() + baseline_), label);
}

}  // namespace lanescope::views
