// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/PaintedWidget.h"

#include <qcustomplot.h>

#include "views/theme/layouts.h"

namespace lanescope::views {

PlotWidget::PlotWidget(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
    columnIn(this)->addWidget(plot_);
    setFocusPolicy(Qt::StrongFocus);
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->installEventFilter(this);
}

void PlotWidget::setTheme(const Theme& theme) {
    theme_ = theme;
    rebuild();
}

void PlotWidget::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    styleChart(*plot_, theme_, font());
    draw();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

bool PlotWidget::eventFilter(QObject* watched, QEvent* event) {
    return (watched == plot_ && plotEvent(event)) || QWidget::eventFilter(watched, event);
}

void PlotWidget::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    showFocus(*plot_, theme_, true);
}

void PlotWidget::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    showFocus(*plot_, theme_, false);
}

void PlotWidget::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuild();
}

}  // namespace lanescope::views
