// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/CopyChart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/text/formatValue.h"
#include "views/bandwidth/plotCopies.h"
#include "views/text/shortDuration.h"
#include "views/text/shownText.h"
#include "views/timeline/scales.h"

namespace lanescope::views {
namespace {

constexpr double pixelsPerPlace = 4;  // closer points overlap
constexpr double pixelsPerBin = 12;
constexpr double reach = 12;  // around the pointer, in pixels
constexpr int dragDistance = 5;

}  // namespace

CopyChart::CopyChart(BandwidthChart kind, QWidget* parent) : PlotWidget(parent), kind_(kind) {
    setAccessibleName(kind == BandwidthChart::OverTime ? tr("GB/s of the copies over time")
                      : kind == BandwidthChart::BySize ? tr("GB/s of the copies by their size")
                                                       : tr("How many copies had which GB/s"));
    plot_->setMouseTracking(true);
    plot_->addLayer(QStringLiteral("marks"), plot_->layer(QStringLiteral("main")));
    plot_->layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmBuffered);
    rebuild();
}

void CopyChart::setAnswer(std::shared_ptr<const BandwidthAnswer> answer) {
    if (answer && answer->question.chart != kind_) return;
    answer_ = std::move(answer);
    chosen_.reset();
    if (answer_ && !isFilteredByUser_) {
        hidden_.clear();
        const std::vector<CopyGroup>& groups = groupsOf(*answer_);
        const auto isMemset = [](const CopyGroup& group) { return group.isMemset; };
        if (!std::ranges::all_of(groups, isMemset))
            std::ranges::copy_if(groups, std::inserter(hidden_, hidden_.end()), isMemset);
    }
    rebuild();
}

QRect CopyChart::legendPlace(size_t entry) const {
    const QCPLegend* legend = plot_->legend;
    if (!legend->visible() || static_cast<int>(entry) >= legend->itemCount()) return {};
    return legend->item(static_cast<int>(entry))->outerRect();
}

CopyGrid CopyChart::grid() const {
    CopyGrid grid;
    grid.across = kind_ == BandwidthChart::BySize ? CopyAxis::Size : CopyAxis::Time;
    grid.columns = std::max(20, static_cast<int>(width() / pixelsPerPlace));
    grid.rows = std::max(10, static_cast<int>(height() / pixelsPerPlace));
    return grid;
}

int CopyChart::binCount() const { return std::clamp(static_cast<int>(width() / pixelsPerBin), 10, 60); }

void CopyChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    marks_.clear();
    ring_ = nullptr;
    band_ = nullptr;
    styleChart(*plot_, theme_, font());
    plot_->legend->setVisible(false);
    legendGroups_.clear();
    if (answer_) {
        marks_ = copyMarks(*answer_);
        removeGroups(marks_, *answer_, hidden_);
        // With all groups hidden none could be shown again.
        if (marks_.empty() && !hidden_.empty()) {
            hidden_.clear();
            marks_ = copyMarks(*answer_);
        }
    }
    if (marks_.empty())
        showEmpty(*plot_, theme_, font(), answer_ ? tr("No copies with known bytes and time") : QString());
    else
        legendGroups_ = plotCopies(*plot_, *answer_, marks_, hidden_, theme_, font());
    setAccessibleDescription(
        answer_
            ? tr("%n points or bars; the cursor keys choose one, Enter shows it on the timeline", nullptr, markCount())
            : QString());
    if (chosen_ && *chosen_ >= markCount()) chosen_.reset();
    showChosen();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

QPoint CopyChart::markPosition(int mark) const {
    const CopyMark& at = marks_[static_cast<size_t>(mark)];
    const bool isBar = kind_ == BandwidthChart::Histogram;
    const double x = isBar ? at.x + at.width / 2 : at.x;
    return QPointF(plot_->xAxis->coordToPixel(x), plot_->yAxis->coordToPixel((at.low + at.high) / 2)).toPoint();
}

std::optional<int> CopyChart::markAt(QPointF position) const {
    std::optional<int> nearest;
    double minDistance = reach;
    for (int index = 0; index < markCount(); ++index) {
        const CopyMark& mark = marks_[static_cast<size_t>(index)];
        const double left = plot_->xAxis->coordToPixel(mark.x);
        const double right = plot_->xAxis->coordToPixel(mark.x + mark.width);
        const double top = plot_->yAxis->coordToPixel(mark.high);
        const double bottom = plot_->yAxis->coordToPixel(mark.low);
        const double dx = std::max({0.0, left - position.x(), position.x() - right});
        const double dy = std::max({0.0, top - position.y(), position.y() - bottom});
        const double distance = std::hypot(dx, dy);
        if (distance >= minDistance) continue;
        minDistance = distance;
        nearest = index;
    }
    return nearest;
}

void CopyChart::choose(std::optional<int> mark) {
    if (mark == chosen_) return;
    chosen_ = mark;
    showChosen();
    emit described(chosen_ ? markText(*answer_, marks_[static_cast<size_t>(*chosen_)]) : QString());
}

void CopyChart::showChosen() {
    if (!ring_) {
        ring_ = plot_->addGraph();
        ring_->removeFromLegend();
        ring_->setLayer(QStringLiteral("overlay"));
        ring_->setLineStyle(QCPGraph::lsNone);
        ring_->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme_.text, 2), Qt::NoBrush, copyPointSize + 7));
    }
    QVector<double> keys, values;
    if (chosen_) {
        const CopyMark& mark = marks_[static_cast<size_t>(*chosen_)];
        const bool isBar = kind_ == BandwidthChart::Histogram;
        keys << (isBar ? mark.x + mark.width / 2 : mark.x);
        values << (mark.low + mark.high) / 2;
    }
    ring_->setData(keys, values, true);
    plot_->layer(QStringLiteral("overlay"))->replot();
}

int64_t CopyChart::timeAt(double pixel) const {
    const double offset =
        std::clamp(plot_->xAxis->pixelToCoord(pixel), 0.0, static_cast<double>(answer_->shown.durationNs()));
    return answer_->shown.startNs + static_cast<int64_t>(offset);
}

void CopyChart::press(const QMouseEvent& event) {
    setFocus(Qt::MouseFocusReason);
    if (event.button() == Qt::LeftButton && answer_) pressedAt_ = event.pos();
}

void CopyChart::move(const QMouseEvent& event) {
    if (!answer_ || marks_.empty()) return;
    if (!pressedAt_) return choose(markAt(event.position()));
    if (kind_ != BandwidthChart::OverTime) return;
    isDragging_ = isDragging_ || std::abs(event.pos().x() - pressedAt_->x()) >= dragDistance;
    if (!isDragging_) return;
    if (!band_) {
        band_ = new QCPItemRect(plot_);
        band_->setLayer(QStringLiteral("overlay"));
        band_->setBrush(theme_.selection);
        band_->setPen(QPen(theme_.accent, 1));
        for (QCPItemPosition* corner : {band_->topLeft, band_->bottomRight})
            corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    const auto key = [&](int x) { return static_cast<double>(timeAt(x) - answer_->shown.startNs); };
    band_->topLeft->setCoords(key(pressedAt_->x()), 0);
    band_->bottomRight->setCoords(key(event.pos().x()), 1);
    const auto [from, to] = std::minmax({timeAt(pressedAt_->x()), timeAt(event.pos().x())});
    emit described(tr("Selects %1 from %2").arg(shortDuration(to - from), formatTime(from)));
    plot_->layer(QStringLiteral("overlay"))->replot();
}

void CopyChart::release(const QMouseEvent& event) {
    const std::optional<QPoint> from = std::exchange(pressedAt_, std::nullopt);
    const bool wasDragging = std::exchange(isDragging_, false);
    if (!from || !answer_) return;
    if (wasDragging) {
        if (band_) plot_->removeItem(std::exchange(band_, nullptr));
        const auto [start, end] = std::minmax({timeAt(from->x()), timeAt(event.pos().x())});
        plot_->layer(QStringLiteral("overlay"))->replot();
        emit described({});
        if (end > start) emit rangeSelected({start, end});
        return;
    }
    for (size_t entry = 0; entry < legendGroups_.size(); ++entry) {
        if (!legendPlace(entry).contains(event.pos())) continue;
        const CopyGroup group = legendGroups_[entry];
        isFilteredByUser_ = true;
        if (hidden_.erase(group) == 0) hidden_.insert(group);
        chosen_.reset();
        return rebuild();
    }
    if (const auto mark = markAt(event.position())) {
        choose(mark);
        emit copyActivated(copyOf(*mark).event);
    }
}

bool CopyChart::plotEvent(QEvent* event) {
    switch (event->type()) {
        case QEvent::MouseButtonPress: press(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseMove: move(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseButtonRelease: release(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseButtonDblClick: return true;
        case QEvent::Leave:
            if (!hasFocus()) choose(std::nullopt);
            return false;
        default: return false;
    }
}

void CopyChart::keyPressEvent(QKeyEvent* event) {
    if (marks_.empty()) return QWidget::keyPressEvent(event);
    const int last = markCount() - 1;
    switch (event->key()) {
        case Qt::Key_Left: return choose(chosen_ ? std::max(0, *chosen_ - 1) : last);
        case Qt::Key_Right: return choose(chosen_ ? std::min(last, *chosen_ + 1) : 0);
        case Qt::Key_Home: return choose(0);
        case Qt::Key_End: return choose(last);
        case Qt::Key_Escape:
            if (!chosen_) break;
            return choose(std::nullopt);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!chosen_) break;
            emit copyActivated(copyOf(*chosen_).event);
            return;
        default: break;
    }
    QWidget::keyPressEvent(event);
}

void CopyChart::resizeEvent(QResizeEvent* event) {
    PlotWidget::resizeEvent(event);
    emit gridChanged();
}

void CopyChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) rebuild();
}

}  // namespace lanescope::views
