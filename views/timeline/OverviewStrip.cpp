// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/OverviewStrip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "views/timeline/timelineInput.h"

namespace lanescope::views {
namespace {

constexpr double gripWidth = 5;

}  // namespace

OverviewStrip::OverviewStrip(TimelineState& state, QWidget* parent)
    : QWidget(parent), state_(state) {
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setFocusPolicy(Qt::ClickFocus);
    setToolTip(
        tr("The whole trace: GPU activity above, CPU activity below.\n"
           "Drag the window or its edges; double-click to see everything."));
    const auto repaint = [this] { update(); };
    connect(&state_, &TimelineState::traceChanged, this, [this] {
        painter_.forget();
        forgetCharts();
    });
    connect(&state_, &TimelineState::themeChanged, this, &OverviewStrip::forgetCharts);
    connect(&state_, &TimelineState::viewChanged, this, repaint);
    connect(&state_, &TimelineState::selectedRangeChanged, this, repaint);
    connect(&state_, &TimelineState::hitsChanged, this, repaint);
}

void OverviewStrip::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    if (companion_) disconnect(companion_, nullptr, this, nullptr);
    companion_ = companion;
    painter_.forget();
    setToolTip(companion ? tr("The GPUs of both runs: baseline above, candidate below.\n"
                              "Drag the window or its edges; double-click to see everything.")
                         : tr("The whole trace: GPU activity above, CPU activity below.\n"
                              "Drag the window or its edges; double-click to see everything."));
    if (companion) {
        connect(companion, &TimelineState::traceChanged, this, [this] {
            painter_.forget();
            forgetCharts();
        });
        connect(companion, &TimelineState::themeChanged, this, &OverviewStrip::forgetCharts);
        connect(companion, &TimelineState::viewChanged, this, [this] { update(); });
    }
    forgetCharts();
}

void OverviewStrip::forgetCharts() {
    charts_ = {};
    update();
}

void OverviewStrip::updateCharts() {
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    const TimeRange companionRange = companion_ ? companion_->limits() : TimeRange();
    if (charts_.size() == pixels && charts_.devicePixelRatio() == ratio &&
        chartsRange_ == state_.limits() && companionRange_ == companionRange)
        return;
    charts_ = QImage(pixels, QImage::Format_RGB32);
    charts_.setDevicePixelRatio(ratio);
    chartsRange_ = state_.limits();
    companionRange_ = companionRange;
    QPainter painter(&charts_);
    painter_.paintCharts(painter, state_, size(), companion_);
}

void OverviewStrip::paintEvent(QPaintEvent*) {
    updateCharts();
    QPainter painter(this);
    painter.drawImage(0, 0, charts_);
    OverviewPainter::paintMarks(painter, state_, size());
}

void OverviewStrip::wheelEvent(QWheelEvent* event) {
    zoomOrPan(*event, state_, scale());
    event->accept();
}

OverviewStrip::Grip OverviewStrip::gripAt(double x) const {
    if (state_.visibleRange()->isFitted()) return Grip::None;
    const double left = scale().toX(state_.visible().startNs);
    const double right = scale().toX(state_.visible().endNs);
    // A window too narrow for grips can still be taken hold of as a whole.
    if (right - left > 4 * gripWidth) {
        if (std::abs(x - left) <= gripWidth) return Grip::Start;
        if (std::abs(x - right) <= gripWidth) return Grip::End;
    }
    return x >= left - gripWidth && x <= right + gripWidth ? Grip::Window : Grip::None;
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !state_.hasTracks()) return;
    const double x = event->position().x();
    grip_ = gripAt(x);
    if (grip_ == Grip::None && !state_.visibleRange()->isFitted()) {
        const TimeRange visible = state_.visible();
        state_.setVisible(
            visible.shifted(scale().toTimeNs(x) - visible.startNs - visible.durationNs() / 2));
        grip_ = Grip::Window;
    }
    pressedX_ = x;
    pressedRange_ = state_.visible();
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) return dragTo(event->position().x());
    const Grip grip = gripAt(event->position().x());
    const bool isEdge = grip == Grip::Start || grip == Grip::End;
    setCursor(isEdge                 ? Qt::SizeHorCursor
              : grip == Grip::Window ? Qt::OpenHandCursor
                                     : Qt::ArrowCursor);
}

void OverviewStrip::dragTo(double x) {
    const int64_t byNs = scale().spanNs(x - pressedX_);
    TimeRange range = pressedRange_;
    switch (grip_) {
        case Grip::None:
            return;
        case Grip::Window:
            range = range.shifted(byNs);
            break;
        case Grip::Start:
            range.startNs = std::min(range.startNs + byNs, range.endNs - VisibleRange::minimumNs);
            break;
        case Grip::End:
            range.endNs = std::max(range.endNs + byNs, range.startNs + VisibleRange::minimumNs);
            break;
    }
    if (grip_ != Grip::Window) range = range.intersected(state_.limits());
    state_.setVisible(range);
}

void OverviewStrip::mouseReleaseEvent(QMouseEvent*) {
    grip_ = Grip::None;
}

void OverviewStrip::mouseDoubleClickEvent(QMouseEvent*) {
    state_.visibleRange()->fit();
}

}  // namespace lanescope::views
