// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/RankLens.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/compare/shownNumbers.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"
#include "views/theme/heatColors.h"

namespace lanescope::views {

using namespace explain;

namespace {

constexpr int leastRow = 4, mostRow = 28;

}  // namespace

RankLens::RankLens(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Map of ranks and steps"));
}

void RankLens::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    hasChosen_ = false;
    row_ = column_ = 0;
    measureLabels();
    setMeasure(measure_);
    updateGeometry();
}

void RankLens::setMeasure(const LensMeasure& measure) {
    measure_ = measure;
    scale_ = run_ ? explain::scaleOf(run_->summary, measure_) : LensScale();
    setAccessibleDescription(toQString(name(measure_)));
    update();
}

void RankLens::setTheme(const Theme& theme) {
    theme_ = theme;
    update();
}

QSize RankLens::minimumSizeHint() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return {240, rows * leastRow + 2 * fontMetrics().height() + 20};
}

QSize RankLens::sizeHint() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return {800, rows * mostRow + 2 * fontMetrics().height() + 20};
}

QRect RankLens::mapArea() const {
    const int labels = rowHeight() >= fontMetrics().height() ? labelWidth_ : 0;
    const int left = 10 + std::min(labels + (labels > 0 ? 10 : 0), width() / 3);
    return {left, 6, std::max(1, width() - left - 10), height() - 20 - fontMetrics().height()};
}

void RankLens::measureLabels() {
    labelWidth_ = 0;
    for (size_t row = 0; !isEmpty() && row < run_->grid.rowCount(); ++row)
        labelWidth_ = std::max(
            labelWidth_, fontMetrics().horizontalAdvance(
                             toQString(run_->summary.workers[run_->grid.workerOf(row)].label())));
}

int RankLens::rowHeight() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return std::clamp((height() - 20 - fontMetrics().height()) / rows, leastRow, mostRow);
}

double RankLens::columnWidth() const {
    return double(mapArea().width()) / double(run_->grid.columnCount());
}

size_t RankLens::columnsPerCell() const {
    return std::max<size_t>(1, static_cast<size_t>(std::ceil(1 / columnWidth())));
}

const compare::StepSummary& RankLens::stepOf(StepPlace place) const {
    return run_->summary.workers[place.worker].steps[place.step];
}

QRectF RankLens::cellOf(size_t row, size_t column) const {
    const QRect area = mapArea();
    const size_t first = column / columnsPerCell() * columnsPerCell();
    return QRectF(area.left() + columnWidth() * double(first),
                  area.top() + double(row) * rowHeight(),
                  std::max(1.0, columnWidth() * double(columnsPerCell())), rowHeight());
}

QColor RankLens::colorOf(StepPlace place) const {
    const QColor strong =
        measure_.kind == LensMeasure::Kind::Part ? theme_.colorOf(measure_.part) : theme_.slower;
    const double share = scale_.shareOf(valueOf(stepOf(place), measure_));
    return heatColor(theme_, strong, share);
}

void RankLens::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (isEmpty()) {
        painter.setPen(theme_.mutedText);
        painter.drawText(rect(), Qt::AlignCenter, tr("No steps were found in this trace."));
        return;
    }
    const QRect area = mapArea();
    const int high = rowHeight();
    const double gap = columnWidth() >= 6 ? 1 : 0;
    for (size_t row = 0; row < run_->grid.rowCount(); ++row) {
        const QRect line(0, area.top() + static_cast<int>(row) * high, area.left() - 8, high);
        // Of thousands of ranks few are on the screen.
        if (line.bottom() < event->rect().top() || line.top() > event->rect().bottom()) continue;
        if (high >= fontMetrics().height()) {
            painter.setPen(theme_.text);
            painter.drawText(line.adjusted(10, 0, 0, 0), Qt::AlignRight | Qt::AlignVCenter,
                             toQString(run_->summary.workers[run_->grid.workerOf(row)].label()));
        }
        for (size_t first = 0; first < run_->grid.columnCount(); first += columnsPerCell()) {
            const auto longest = run_->grid.longestIn(row, first, columnsPerCell());
            if (!longest) continue;
            const QRectF cell = cellOf(row, first);
            painter.fillRect(cell.adjusted(0, 0, -gap, high > 6 ? -1 : 0),
                             colorOf(*run_->grid.at(row, *longest)));
        }
    }
    if (hasChosen_) {
        painter.setPen(QPen(theme_.text, 2));
        painter.drawRect(cellOf(row_, column_));
    }
    paintLegend(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme_.accent, 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void RankLens::paintLegend(QPainter& painter) const {
    const QRect area = mapArea();
    const int top = height() - fontMetrics().height() - 8;
    const QString low = toQString(compare::timeText(double(scale_.lowNs)));
    const QString high = toQString(compare::timeText(double(scale_.highNs)));
    const QColor strong =
        measure_.kind == LensMeasure::Kind::Part ? theme_.colorOf(measure_.part) : theme_.slower;
    int x = area.left();
    painter.setPen(theme_.mutedText);
    const auto write = [&](const QString& text) {
        const int wide = fontMetrics().horizontalAdvance(text);
        painter.drawText(x, top + fontMetrics().ascent(), text);
        x += wide + 8;
    };
    write(low);
    const QRect bar(x, top + 2, 90, fontMetrics().height() - 4);
    paintHeatBar(painter, bar, heatColor(theme_, strong, 0), {}, strong);
    x = bar.right() + 8;
    write(high);
    const QString steps = tr("steps %1 to %2")
                              .arg(run_->grid.numberOf(0))
                              .arg(run_->grid.numberOf(run_->grid.columnCount() - 1));
    const int wide = fontMetrics().horizontalAdvance(steps);
    if (area.right() - wide > x) {
        x = area.right() - wide;
        write(steps);
    }
}

std::optional<StepPlace> RankLens::stepAt(QPoint position) const {
    if (isEmpty()) return std::nullopt;
    const QRect area = mapArea();
    if (position.x() < area.left() || position.x() > area.right() || position.y() < area.top())
        return std::nullopt;
    const auto row = static_cast<size_t>((position.y() - area.top()) / rowHeight());
    if (row >= run_->grid.rowCount()) return std::nullopt;
    const auto column = static_cast<size_t>((position.x() - area.left() + 0.5) / columnWidth());
    const size_t first = column / columnsPerCell() * columnsPerCell();
    const auto longest = run_->grid.longestIn(row, first, columnsPerCell());
    return longest ? run_->grid.at(row, *longest) : std::nullopt;
}

std::optional<StepPlace> RankLens::chosen() const {
    return hasChosen_ ? run_->grid.at(row_, column_) : std::nullopt;
}

QString RankLens::tipAt(StepPlace place) const {
    const compare::StepSummary& step = stepOf(place);
    return tr("Step %1, %2\n%3: %4\nwhole step: %5")
        .arg(step.number)
        .arg(toQString(run_->summary.workers[place.worker].label()), toQString(name(measure_)),
             toQString(compare::timeText(double(valueOf(step, measure_)))),
             toQString(compare::timeText(double(step.wallNs))));
}

void RankLens::choose(size_t row, size_t column, int direction) {
    while (column < run_->grid.columnCount()) {
        if (const auto place = run_->grid.at(row, column)) {
            row_ = row;
            column_ = column;
            hasChosen_ = true;
            update();
            emit stepChosen(*place);
            return;
        }
        if (direction < 0 && column == 0) return;
        column += static_cast<size_t>(direction);
    }
}

void RankLens::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto place = stepAt(event->pos()))
        choose(run_->grid.rowOf(place->worker), run_->grid.columnOf(stepOf(*place).number), 1);
}

void RankLens::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto place = stepAt(event->pos())) emit stepActivated(*place);
}

void RankLens::keyPressEvent(QKeyEvent* event) {
    if (isEmpty()) return QWidget::keyPressEvent(event);
    const size_t last = run_->grid.columnCount() - 1;
    switch (event->key()) {
        case Qt::Key_Left:
            if (column_ > 0) choose(row_, column_ - 1, -1);
            return;
        case Qt::Key_Right:
            choose(row_, hasChosen_ ? column_ + 1 : 0, 1);
            return;
        case Qt::Key_Up:
            if (row_ > 0) choose(row_ - 1, column_, 1);
            return;
        case Qt::Key_Down:
            if (row_ + 1 < run_->grid.rowCount()) choose(row_ + 1, column_, 1);
            return;
        case Qt::Key_Home:
            choose(row_, 0, 1);
            return;
        case Qt::Key_End:
            choose(row_, last, -1);
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (const auto place = chosen()) emit stepActivated(*place);
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

bool RankLens::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const auto place = stepAt(help->pos()))
            QToolTip::showText(help->globalPos(), plainToolTip(tipAt(*place)), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

void RankLens::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    measureLabels();
    updateGeometry();
    update();
}

void RankLens::focusInEvent(QFocusEvent*) {
    update();
}

void RankLens::focusOutEvent(QFocusEvent*) {
    update();
}

}  // namespace lanescope::views
