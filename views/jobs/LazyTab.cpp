// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/LazyTab.h"

#include <QEvent>
#include <QLayout>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace lanescope::views {

PageArea::PageArea(QWidget* page, QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    // What is scrolled holds timelines and tables of its own; arrows are theirs.
    horizontalScrollBar()->setFocusPolicy(Qt::NoFocus);
    verticalScrollBar()->setFocusPolicy(Qt::NoFocus);
    viewport()->setAutoFillBackground(false);
    setWidget(page);
    page->setAutoFillBackground(false);
    page->installEventFilter(this);
}

QSize PageArea::sizeHint() const {
    return widget()->sizeHint();
}

QSize PageArea::minimumSizeHint() const {
    const QSize least = QScrollArea::minimumSizeHint();
    if (!isOnlySideways_) return least;
    const bool isWide = widget()->width() > width();
    const int bar = isWide ? horizontalScrollBar()->sizeHint().height() : 0;
    return {least.width(), widget()->layout()->totalMinimumSize().height() + bar};
}

QSize PageArea::sizeIn(QSize room) const {
    const QLayout& layout = *widget()->layout();
    QSize needed = layout.totalMinimumSize();
    const int width = std::max(needed.width(), room.width());
    if (layout.hasHeightForWidth()) needed.setHeight(layout.totalMinimumHeightForWidth(width));
    return {width, std::max(needed.height(), room.height())};
}

void PageArea::fit() {
    const QSize room = maximumViewportSize();
    QSize size = sizeIn(room);
    // A bar takes from the room that the other direction has.
    const bool isTall = size.height() > room.height();
    const bool isWide =
        size.width() > room.width() - (isTall ? verticalScrollBar()->sizeHint().width() : 0);
    if (isTall || isWide)
        size = sizeIn({room.width() - (isTall ? verticalScrollBar()->sizeHint().width() : 0),
                       room.height() - (isWide ? horizontalScrollBar()->sizeHint().height() : 0)});
    if (size == widget()->size()) return;
    widget()->resize(size);
    if (isOnlySideways_) updateGeometry();
}

void PageArea::showPart(const QWidget& part) {
    QScrollBar& bar = *verticalScrollBar();
    const int top = part.mapTo(widget(), QPoint()).y();
    const int bottom = top + part.height();
    const int seen = viewport()->height();
    if (top >= bar.value() && bottom <= bar.value() + seen) return;
    bar.setValue(std::min(top, std::max(bottom - seen, top)));
}

bool PageArea::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        fit();
        updateGeometry();
    }
    return QScrollArea::eventFilter(watched, event);
}

void PageArea::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fit();
}

LazyTab::LazyTab(QWidget* parent) : QWidget(parent) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
}

void LazyTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (content_) return;
    QTimer::singleShot(0, this, [this] {
        if (isVisible()) demand();
    });
}

QWidget& LazyTab::demand() {
    if (!content_) {
        content_ = make();
        // What is wider than the window is scrolled, and not the page around with it.
        auto* area = new PageArea(content_, this);
        area->setOnlySideways();
        layout()->addWidget(area);
        // A layout that is on the screen would show it a turn later only.
        area->show();
        content_->show();
        fill();
    }
    return *content_;
}

}  // namespace lanescope::views
