// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/ComparedTimelines.h"

#include <QDialog>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cstdlib>

#include "model/trace/healthNotes.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

CompareSide::CompareSide(Role role, VisibleRange* range, QWidget* parent) : QWidget(parent), role_(role) {
    timeline_->state().range().setAxis(range);
    timeline_->setAccessibleName(role == Role::Baseline ? tr("Timeline of both runs")
                                                        : tr("Timeline of the candidate"));
    auto* layout = columnIn(this);
    layout->addWidget(healthBar_);
    if (role == Role::Baseline)
        layout->addWidget(timeline_, 1);
    else
        timeline_->hide();
    connect(healthBar_, &WarningBar::detailsRequested, this, &CompareSide::showWarnings);
}

void CompareSide::setTrace(TracePtr trace) {
    std::vector<HealthNote> notes = healthNotesOf(*trace);
    const char* const side = role_ == Role::Baseline ? "Baseline: " : "Candidate: ";
    for (HealthNote& note : notes) note.sentence.insert(0, side);
    healthBar_->setNotes(notes);
    timeline_->setTrace(std::move(trace));
}

void CompareSide::setTheme(const Theme& theme) {
    theme_ = theme;
    timeline_->state().options().setTheme(theme);
    timeline_->state().options().setMark(role_ == Role::Baseline ? theme.baseline : theme.candidate);
    healthBar_->setTheme(theme);
}

TimeRange CompareSide::toAxis(TimeRange traceRange) const {
    return traceRange.shifted(-timeline_->state().range().origin());
}

TimeRange CompareSide::toTrace(TimeRange axisRange) const {
    return axisRange.shifted(timeline_->state().range().origin());
}

void CompareSide::showWarnings() {
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(role_ == Role::Baseline ? tr("Warnings of the baseline") : tr("Warnings of the candidate"));
    auto* panel = new WarningPanel(dialog);
    panel->setTrace(timeline_->trace());
    panel->setTheme(theme_);
    columnIn(dialog)->addWidget(panel);
    dialog->resize(720, 360);
    dialog->show();
}

using namespace analysis;
using namespace compare;

namespace {

constexpr double wheelZoom = 1.25;
constexpr double minTextWidthPx = 24;    // the narrowest number
constexpr double minNumberShare = 0.05;  // share of the greatest difference that gets a number
constexpr double minSegmentPx = 0.5;     // of the line, in pixels

}  // namespace

DifferenceLane::DifferenceLane(VisibleRange& range, QWidget* parent) : PaintedWidget(parent), range_(range) {
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Time lost per step and in total"));
    connect(&range_, &VisibleRange::changed, this, [this] { update(); });
    connect(&range_, &VisibleRange::limitsChanged, this, [this] { update(); });
}

void DifferenceLane::setSteps(std::vector<StepDifference> steps, int64_t originNs) {
    steps_ = std::move(steps);
    originNs_ = originNs;
    maxLostNs_ = maxAccumulatedNs_ = 1;
    for (const StepDifference& step : steps_) {
        maxLostNs_ = std::max<int64_t>(maxLostNs_, std::abs(step.lostNs()));
        maxAccumulatedNs_ = std::max<int64_t>(maxAccumulatedNs_, std::abs(step.lostInAllNs));
    }
    maxShare_ = minShare_ = 0;
    for (const StepDifference& step : steps_) {
        for (const double share :
             {double(step.lostNs()) / double(maxLostNs_), double(step.lostInAllNs) / double(maxAccumulatedNs_)}) {
            maxShare_ = std::max(maxShare_, share);
            minShare_ = std::min(minShare_, share);
        }
    }
    if (maxShare_ == minShare_) maxShare_ = 1;
    update();
}

double DifferenceLane::toX(int64_t timeNs) const {
    return TimeScale{range_.range(), double(width()), 0}.toX(timeNs - originNs_);
}

int DifferenceLane::stepAt(int x) const {
    const TimeScale scale{range_.range(), double(width()), 0};
    const int64_t timeNs = scale.toTimeNs(x + 0.5) + originNs_;
    const auto after = std::ranges::upper_bound(steps_, timeNs, {}, &StepDifference::candidateStartNs);
    if (after == steps_.begin()) return -1;
    const StepDifference& step = *(after - 1);
    if (timeNs >= step.candidateStartNs + step.candidateNs) return -1;
    return int(after - 1 - steps_.begin());
}

int DifferenceLane::preferredHeight() const {
    constexpr int chartHeight = 40;
    return chartHeight + fontMetrics().height() + 3;
}

QRect DifferenceLane::numbersArea() const {
    const int top = height() - fontMetrics().height() - 3;
    return {0, top, width(), height() - 1 - top};
}

double DifferenceLane::yOf(double share) const {
    constexpr double margin = 3;
    const double room = std::max(1.0, numbersArea().top() - 2 * margin);
    return margin + room * (maxShare_ - share) / (maxShare_ - minShare_);
}

void DifferenceLane::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    painter.fillRect(QRectF(0, yOf(0), width(), 1), theme_.grid);
    if (!steps_.empty()) {
        paintColumns(painter);
        paintNumbers(painter);
        paintLine(painter);
    }
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme_.separator);
}

void DifferenceLane::paintColumns(QPainter& painter) const {
    for (const StepDifference& step : steps_) {
        const double left = toX(step.candidateStartNs);
        const double right = toX(step.candidateStartNs + step.candidateNs);
        if (right < 0 || left > width()) continue;
        const double end = yOf(double(step.lostNs()) / double(maxLostNs_));
        const double tall = std::max(1.0, std::abs(end - yOf(0)));
        const bool isLost = step.lostNs() > 0;
        // Up means slower: more time.
        const QRectF column(left, isLost ? yOf(0) - tall : yOf(0), std::max(1.0, right - left - 1), tall);
        painter.fillRect(column, Theme::mix(theme_.canvas, isLost ? theme_.slower : theme_.faster, 0.35));
    }
}

std::vector<DifferenceLane::Number> DifferenceLane::numbers() const {
    std::vector<const StepDifference*> numbered;
    for (const StepDifference& step : steps_) {
        const double left = toX(step.candidateStartNs);
        const double right = toX(step.candidateStartNs + step.candidateNs);
        if (right < 0 || left > width() || right - left < minTextWidthPx) continue;
        // Small next to the losses elsewhere: noise.
        if (std::abs(double(step.lostNs())) >= minNumberShare * double(maxLostNs_)) numbered.push_back(&step);
    }
    std::ranges::stable_sort(numbered, std::ranges::greater(),
                             [](const auto* step) { return std::abs(step->lostNs()); });
    const QFontMetrics metrics(font());
    std::vector<Number> numbers;
    for (const StepDifference* step : numbered) {
        const QString text = signedDuration(step->lostNs());
        const double left = std::max(0.0, toX(step->candidateStartNs));
        const double right = std::min<double>(width(), toX(step->candidateStartNs + step->candidateNs));
        const int textWidth = metrics.horizontalAdvance(text);
        if (textWidth > width()) continue;
        const double from = std::clamp((left + right - textWidth) / 2, 0.0, static_cast<double>(width() - textWidth));
        const QRectF place(from, numbersArea().top() + 1, textWidth, metrics.height());
        const QRectF free = place.adjusted(-6, 0, 6, 0);
        if (std::ranges::none_of(numbers, [&](const Number& other) { return other.place.intersects(free); }))
            numbers.push_back({place, text});
    }
    return numbers;
}

void DifferenceLane::paintNumbers(QPainter& painter) const {
    painter.setPen(theme_.text);
    const int ascent = fontMetrics().ascent();
    for (const Number& number : numbers()) painter.drawText(number.place.topLeft() + QPointF(0, ascent), number.text);
}

void DifferenceLane::paintLine(QPainter& painter) const {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_.text, 1.6));
    QPointF from(toX(steps_.front().candidateStartNs), yOf(0));
    for (const StepDifference& step : steps_) {
        const QPointF to(toX(step.candidateStartNs + step.candidateNs),
                         yOf(double(step.lostInAllNs) / double(maxAccumulatedNs_)));
        // Many steps in a pixel are one piece of the line.
        if (to.x() - from.x() < minSegmentPx && &step != &steps_.back()) continue;
        // Clipped at the window's edges: zoomed in, the ends lie millions of pixels away.
        const double left = std::max(from.x(), -2.0), right = std::min(to.x(), width() + 2.0);
        if (right > left) {
            const double slope = (to.y() - from.y()) / (to.x() - from.x());
            painter.drawLine(QPointF(left, from.y() + (left - from.x()) * slope),
                             QPointF(right, from.y() + (right - from.x()) * slope));
        }
        from = to;
    }
    painter.restore();
}

void DifferenceLane::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const int step = stepAt(event->pos().x()); step >= 0) emit stepChosen(step);
}

void DifferenceLane::wheelEvent(QWheelEvent* event) {
    const TimeScale scale{range_.range(), double(width()), 0};
    const int angle = event->angleDelta().y();
    if (angle != 0) range_.zoomAt(scale.toTimeNs(event->position().x()), angle > 0 ? wheelZoom : 1 / wheelZoom);
    event->accept();
}

void DifferenceLane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) emit preferredHeightChanged(preferredHeight());
}

std::optional<QString> DifferenceLane::toolTipAt(QPoint position) const {
    const int at = stepAt(position.x());
    if (at < 0) return QString();
    const StepDifference& step = steps_[size_t(at)];
    return plainToolTip(tr("Step %1: %2 against the baseline's; %3 so far")
                            .arg(step.number)
                            .arg(signedDuration(step.lostNs()), signedDuration(step.lostInAllNs)));
}

}  // namespace lanescope::views
