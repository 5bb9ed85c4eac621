// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/histogram/NamePanel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr int margin = 8;
constexpr int pixelsPerBar = 9;
constexpr int aim = 4;  // a pixel distance that still counts as on the point
constexpr std::array<int, 3> percents{50, 90, 99};
constexpr int axisTicks = 4;

QString sentenceOf(const NameOccurrences& found) {
    return NamePanel::tr("%1: %2 times, %3 in total. Min %4, median %5, max %6.")
        .arg(toQString(found.name), toQString(formatCount(int64_t(found.events.size()))), shortDuration(found.totalNs),
             shortDuration(found.minNs), shortDuration(found.medianNs), shortDuration(found.maxNs));
}

}  // namespace

NameHistogram::NameHistogram(QWidget* parent) : PaintedWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("When and how long everything of this name ran"));
}

void NameHistogram::setOccurrences(NameOccurrencesPtr occurrences, TimeRange trace) {
    occurrences_ = std::move(occurrences);
    trace_ = trace;
    current_.reset();
    brush_.reset();
    percentiles_ = {};
    if (occurrences_ && !occurrences_->isEmpty()) {
        const std::vector<int64_t>& durationsNs = occurrences_->durationNs;
        for (size_t index = 0; index < percentiles_.size(); ++index)
            percentiles_[index] = std::llround(quantileOf(durationsNs, percents[index] / 100.0));
    }
    rebuild();
}

QRect NameHistogram::timeArea() const {
    const int foot = fontMetrics().height() + margin;
    return {margin, margin + fontMetrics().height(), width() * 3 / 5 - 2 * margin,
            std::max(1, height() - margin - fontMetrics().height() - foot)};
}

QRect NameHistogram::durationArea() const {
    const QRect time = timeArea();
    return {width() * 3 / 5 + margin, time.top(), std::max(1, width() * 2 / 5 - 2 * margin), time.height()};
}

void NameHistogram::rebuild() {
    histogram_ = {};
    longestAt_.clear();
    if (occurrences_ && !occurrences_->isEmpty()) {
        histogram_ =
            durationHistogram(*occurrences_, static_cast<size_t>(std::max(1, durationArea().width() / pixelsPerBar)));
        const size_t count = occurrences_->events.size();
        longestAt_.assign(static_cast<size_t>(std::max(1, timeArea().width())), count);
        for (size_t index = 0; index < count; ++index) {
            const auto pixel = static_cast<size_t>(std::clamp<int>(
                xOf(occurrences_->startNs[index]) - timeArea().left(), 0, static_cast<int>(longestAt_.size()) - 1));
            size_t& longest = longestAt_[pixel];
            if (longest == count || occurrences_->durationNs[longest] < occurrences_->durationNs[index])
                longest = index;
        }
    }
    setBrush(brush_);
}

bool NameHistogram::isBrushed(size_t occurrence) const {
    if (!brush_) return true;
    const int64_t startNs = occurrences_->startNs[occurrence], durationNs = occurrences_->durationNs[occurrence];
    if (brush_->isOfTime) return startNs < brush_->until && startNs + durationNs > brush_->from;
    return durationNs >= brush_->from && durationNs <= brush_->until;
}

size_t NameHistogram::brushedCount() const {
    size_t count = 0;
    for (size_t index = 0; occurrences_ && index < occurrences_->events.size(); ++index) count += isBrushed(index);
    return count;
}

void NameHistogram::setBrush(std::optional<Brush> brush) {
    brush_ = brush;
    brushedCounts_.clear();
    if (brush_ && brush_->isOfTime && occurrences_) {
        brushedCounts_.assign(histogram_.bars.size(), 0);
        for (size_t index = 0; index < occurrences_->events.size(); ++index) {
            if (!isBrushed(index)) continue;
            const auto after = std::ranges::upper_bound(histogram_.bars, occurrences_->durationNs[index], {},
                                                        [](const auto& bar) { return bar.fromNs; });
            ++brushedCounts_[static_cast<size_t>(std::max<std::ptrdiff_t>(0, after - histogram_.bars.begin() - 1))];
        }
    }
    update();
}

QString NameHistogram::brushText() const {
    const QString what = brush_->isOfTime
                             ? tr("in this range")
                             : tr("of %1 to %2").arg(shortDuration(brush_->from), shortDuration(brush_->until));
    return tr("%1 of %2 %3")
        .arg(toQString(formatCount(int64_t(brushedCount()))),
             toQString(formatCount(int64_t(occurrences_->events.size()))), what);
}

int64_t NameHistogram::timeAt(int x) const {
    const double share = std::clamp(double(x - timeArea().left()) / std::max(1, timeArea().width()), 0.0, 1.0);
    return trace_.startNs + static_cast<int64_t>(share * static_cast<double>(trace_.durationNs()));
}

int64_t NameHistogram::durationAt(int x) const {
    const QRect area = durationArea();
    const double share = std::clamp(double(x - area.left()) / std::max(1, area.width()), 0.0, 1.0);
    const auto least = static_cast<double>(occurrences_->minNs), most = static_cast<double>(occurrences_->maxNs);
    if (!histogram_.isLogarithmic) return static_cast<int64_t>(least + share * (most - least));
    const double base = std::max(1.0, least);
    return static_cast<int64_t>(base * std::pow(most / base, share));
}

int NameHistogram::xOfDuration(int64_t ns) const {
    const QRect area = durationArea();
    const auto least = static_cast<double>(occurrences_->minNs), most = static_cast<double>(occurrences_->maxNs);
    double share = most > least ? (static_cast<double>(ns) - least) / (most - least) : 0;
    if (histogram_.isLogarithmic) {
        const double base = std::max(1.0, least);
        share = std::log(std::max(base, static_cast<double>(ns)) / base) / std::log(most / base);
    }
    return area.left() + static_cast<int>(std::lround(share * area.width()));
}

int NameHistogram::xOf(int64_t timeNs) const {
    const double share =
        static_cast<double>(timeNs - trace_.startNs) / static_cast<double>(std::max<int64_t>(1, trace_.durationNs()));
    return timeArea().left() + static_cast<int>(std::floor(share * timeArea().width()));
}

/// From 0, so that double height is double time.
int NameHistogram::yOf(int64_t durationNs) const {
    const double share =
        static_cast<double>(durationNs) / static_cast<double>(std::max<int64_t>(1, occurrences_->maxNs));
    return timeArea().bottom() - static_cast<int>(std::lround(share * (timeArea().height() - 3)));
}

QRect NameHistogram::barArea(size_t bar, int64_t of) const {
    const QRect area = durationArea();
    const auto count = static_cast<int>(histogram_.bars.size());
    const int left = area.left() + area.width() * static_cast<int>(bar) / count;
    const int right = area.left() + area.width() * (static_cast<int>(bar) + 1) / count;
    const double share = static_cast<double>(of) / static_cast<double>(std::max<int64_t>(1, histogram_.maxBarCount));
    // A single occurrence is still visible.
    const int high = of == 0 ? 0 : std::max(2, static_cast<int>(std::lround(share * area.height())));
    return {left, area.bottom() - high + 1, std::max(1, right - left - 1), high};
}

void NameHistogram::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (!occurrences_ || occurrences_->isEmpty()) return;
    paintOverTime(painter);
    paintByDuration(painter);
    if (hasFocus()) paintFocusFrame(painter, rect().adjusted(0, 0, -1, -1), theme_);
}

void NameHistogram::paintOverTime(QPainter& painter) const {
    const QRect area = timeArea();
    painter.fillRect(QRect(area.left(), area.bottom() + 1, area.width(), 1), theme_.separator);
    if (brush_ && brush_->isOfTime)
        painter.fillRect(QRect(QPoint(xOf(brush_->from), area.top()), QPoint(xOf(brush_->until), area.bottom())),
                         theme_.selection);
    const QColor color = theme_.colorOf(SliceCategory::Kernel);
    for (size_t pixel = 0; pixel < longestAt_.size(); ++pixel) {
        const size_t longest = longestAt_[pixel];
        if (longest == occurrences_->events.size()) continue;
        const int y = yOf(occurrences_->durationNs[longest]);
        const int x = area.left() + static_cast<int>(pixel);
        const QColor shown = isBrushed(longest) ? color : Theme::mix(theme_.canvas, color, 0.25);
        painter.fillRect(QRect(x, y, 1, area.bottom() - y + 1), translucent(shown, 70));
        painter.fillRect(QRect(x - 1, y - 1, 3, 3), current_ == longest ? theme_.accent : shown);
    }
    painter.setPen(theme_.mutedText);
    const int baseline = margin + fontMetrics().ascent() - 2;
    painter.drawText(area.left(), baseline, tr("Duration over time (max %1)").arg(shortDuration(occurrences_->maxNs)));
    // The lines of the percentiles, with labels where they do not overlap.
    int lowest = area.top() - fontMetrics().height();
    for (size_t index = percents.size(); index-- > 0;) {
        const int y = yOf(percentiles_[index]);
        painter.fillRect(QRect(area.left(), y, area.width(), 1), index == 0 ? theme_.mutedText : theme_.separator);
        if (y - lowest < fontMetrics().height()) continue;
        lowest = y;
        const QString label = tr("p%1 %2").arg(percents[index]).arg(shortDuration(percentiles_[index]));
        const int wide = fontMetrics().horizontalAdvance(label);
        painter.fillRect(QRect(area.right() - wide - 2, y - fontMetrics().height(), wide + 4, fontMetrics().height()),
                         translucent(theme_.canvas, 210));
        painter.drawText(area.right() - wide, y - 2, label);
    }
    const int foot = area.bottom() + fontMetrics().ascent() + 4;
    painter.drawText(area.left(), foot, toQString(formatTimestamp(trace_.startNs)));
    const QString end = toQString(formatTimestamp(trace_.endNs));
    painter.drawText(area.right() - fontMetrics().horizontalAdvance(end), foot, end);
}

void NameHistogram::paintPercentiles(QPainter& painter) const {
    const QRect area = durationArea();
    int right = area.left();
    for (size_t index = 0; index < percents.size(); ++index) {
        const int x = xOfDuration(percentiles_[index]);
        painter.setPen(QPen(theme_.text, 1, Qt::DashLine));
        painter.drawLine(x, area.top(), x, area.bottom());
        const QString label = tr("p%1").arg(percents[index]);
        const int wide = fontMetrics().horizontalAdvance(label);
        const int left = x + 3 + wide <= area.right() ? x + 3 : x - 3 - wide;
        if (left < right) continue;
        painter.setPen(theme_.text);
        painter.drawText(left, area.top() + fontMetrics().ascent(), label);
        right = left + wide + 4;
    }
}

void NameHistogram::paintByDuration(QPainter& painter) const {
    const QRect area = durationArea();
    painter.fillRect(QRect(area.left(), area.bottom() + 1, area.width(), 1), theme_.separator);
    if (brush_ && !brush_->isOfTime)
        painter.fillRect(
            QRect(QPoint(xOfDuration(brush_->from), area.top()), QPoint(xOfDuration(brush_->until), area.bottom())),
            theme_.selection);
    const QColor color = theme_.colorOf(SliceCategory::Kernel);
    for (size_t bar = 0; bar < histogram_.bars.size(); ++bar) {
        const bool isCurrent =
            current_ && histogram_.bars[bar].count > 0 &&
            occurrences_->durationNs[*current_] >= histogram_.bars[bar].fromNs &&
            (occurrences_->durationNs[*current_] < histogram_.bars[bar].untilNs || bar + 1 == histogram_.bars.size());
        const bool isPartly = !brushedCounts_.empty();
        const QColor shown = isPartly ? Theme::mix(theme_.canvas, color, 0.25) : color;
        painter.fillRect(barArea(bar, histogram_.bars[bar].count), isCurrent ? theme_.accent : shown);
        if (isPartly) painter.fillRect(barArea(bar, brushedCounts_[bar]), color);
    }
    paintPercentiles(painter);
    painter.setPen(theme_.mutedText);
    const QString scale = histogram_.isLogarithmic ? tr(", logarithmic") : QString();
    painter.drawText(
        area.left(), margin + fontMetrics().ascent() - 2,
        brush_ ? brushText()
               : tr("Duration histogram (count, max %1%2)").arg(toQString(formatCount(histogram_.maxBarCount)), scale));
    // The axis: as many times as fit.
    const int foot = area.bottom() + fontMetrics().ascent() + 4;
    int right = area.left() - 1;
    for (int tick = 0; tick <= axisTicks; ++tick) {
        const int x = area.left() + area.width() * tick / axisTicks;
        const QString label = shortDuration(durationAt(x));
        const int wide = fontMetrics().horizontalAdvance(label);
        const int left = std::clamp(x - wide / 2, area.left(), area.right() - wide);
        painter.fillRect(QRect(std::min(x, area.right()), area.bottom() + 1, 1, 4), theme_.mutedText);
        if (left <= right) continue;
        painter.drawText(left, foot, label);
        right = left + wide + 6;
    }
}

std::optional<size_t> NameHistogram::occurrenceAt(QPoint position) const {
    if (!occurrences_ || occurrences_->isEmpty()) return std::nullopt;
    if (durationArea().adjusted(0, 0, 1, 1).contains(position)) {
        for (size_t bar = 0; bar < histogram_.bars.size(); ++bar) {
            const QRect area = barArea(bar, histogram_.bars[bar].count);
            if (position.x() >= area.left() && position.x() <= area.right() + 1)
                return histogram_.bars[bar].count > 0 ? std::optional(histogram_.bars[bar].longest) : std::nullopt;
        }
        return std::nullopt;
    }
    if (!timeArea().adjusted(0, 0, 1, 1).contains(position)) return std::nullopt;
    // The nearest occupied pixel.
    const int pixel = position.x() - timeArea().left();
    for (int away = 0; away <= aim; ++away)
        for (const int each : {pixel - away, pixel + away})
            if (each >= 0 && each < static_cast<int>(longestAt_.size()) &&
                longestAt_[static_cast<size_t>(each)] < occurrences_->events.size())
                return longestAt_[static_cast<size_t>(each)];
    return std::nullopt;
}

QString NameHistogram::textOf(size_t occurrence) const {
    return tr("%1 at %2")
        .arg(shortDuration(occurrences_->durationNs[occurrence]),
             toQString(formatTimestamp(occurrences_->startNs[occurrence])));
}

void NameHistogram::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && occurrences_ && !occurrences_->isEmpty()) pressed_ = event->pos();
}

void NameHistogram::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !pressed_) return;
    const QPoint from = *std::exchange(pressed_, std::nullopt);
    if (std::abs(event->pos().x() - from.x()) > aim) {
        if (brush_ && brush_->isOfTime) emit rangeActivated({brush_->from, brush_->until});
        return;
    }
    setBrush(std::nullopt);
    const auto found = occurrenceAt(event->pos());
    if (!found) return;
    current_ = found;
    emit eventActivated(occurrences_->events[*found]);
}

void NameHistogram::mouseMoveEvent(QMouseEvent* event) {
    if (pressed_ && std::abs(event->pos().x() - pressed_->x()) > aim) {
        const int left = std::min(pressed_->x(), event->pos().x()), right = std::max(pressed_->x(), event->pos().x());
        Brush brush{pressed_->x() < durationArea().left() - margin};
        brush.from = brush.isOfTime ? timeAt(left) : durationAt(left);
        brush.until = brush.isOfTime ? timeAt(right) : durationAt(right);
        return setBrush(brush);
    }
    const auto found = occurrenceAt(event->pos());
    setCursor(found ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (!found) return QToolTip::hideText();
    QToolTip::showText(event->globalPosition().toPoint(), textOf(*found), this);
}

void NameHistogram::step(int direction) {
    if (!occurrences_ || occurrences_->isEmpty()) return;
    const auto last = static_cast<int64_t>(occurrences_->events.size()) - 1;
    const int64_t next = current_ ? static_cast<int64_t>(*current_) + direction : direction > 0 ? 0 : last;
    current_ = static_cast<size_t>(std::clamp<int64_t>(next, 0, last));
    setAccessibleDescription(textOf(*current_));
    update();
}

void NameHistogram::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Escape:
            if (!brush_) return QWidget::keyPressEvent(event);
            return setBrush(std::nullopt);
        case Qt::Key_Left: return step(-1);
        case Qt::Key_Right: return step(+1);
        case Qt::Key_End:
            if (occurrences_ && !occurrences_->isEmpty()) current_ = occurrences_->longest();
            return update();
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (current_) emit eventActivated(occurrences_->events[*current_]);
            return;
        default: QWidget::keyPressEvent(event);
    }
}

NamePanel::NamePanel(QWidget* parent) : Panel(parent) {
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headline_->setContentsMargins(8, 6, 8, 2);
    addTo(columnIn(this), headline_, Filling{histogram_});
    connect(histogram_, &NameHistogram::eventActivated, this, &NamePanel::eventActivated);
    connect(histogram_, &NameHistogram::rangeActivated, this, &NamePanel::rangeActivated);
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        histogram_->setOccurrences(nullptr, {});
        headline_->setText(tr("There is not enough memory to find all of this name."));
    });
    setTrace(nullptr);
}

void NamePanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    job_->cancel();
    histogram_->setOccurrences(nullptr, {});
    headline_->setText(tr(
        "Right-click a slice and choose \"Show all instances (timeline and histogram)\" to see all of its name here."));
}

void NamePanel::showNameOf(EventRef event) {
    if (!trace_ || !event.isValid()) return;
    job_->start([this, trace = trace_, event]() -> LatestJob::Publish {
        auto found = std::make_shared<const NameOccurrences>(occurrencesOf(*trace, event));
        return [this, found, trace] {
            if (found->isEmpty()) return;
            headline_->setText(sentenceOf(*found));
            histogram_->setOccurrences(found, trace->timelineRange());
        };
    });
}

}  // namespace lanescope::views
