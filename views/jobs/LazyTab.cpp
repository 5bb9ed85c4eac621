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
    // The scrolled content contains timelines and tables that use the cursor keys.
    horizontalScrollBar()->setFocusPolicy(Qt::NoFocus);
    verticalScrollBar()->setFocusPolicy(Qt::NoFocus);
    viewport()->setAutoFillBackground(false);
    setWidget(page);
    page->setAutoFillBackground(false);
    page->installEventFilter(this);
}

QSize PageArea::minimumSizeHint() const {
    const QSize minSize = QScrollArea::minimumSizeHint();
    if (!isOnlySideways_) return minSize;
    const bool isWide = widget()->width() > width();
    const int bar = isWide ? horizontalScrollBar()->sizeHint().height() : 0;
    return {minSize.width(), widget()->layout()->totalMinimumSize().height() + bar};
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
    // A scroll bar reduces the room of the other direction.
    const bool isTall = size.height() > room.height();
    const bool isWide = size.width() > room.width() - (isTall ? verticalScrollBar()->sizeHint().width() : 0);
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
        // Wide content is scrolled without the surrounding page.
        auto* area = new PageArea(content_, this);
        area->setOnlySideways();
        layout()->addWidget(area);
        // A visible layout would show it only in the next event loop turn.
        area->show();
        content_->show();
        fill();
    }
    return *content_;
}

}  // namespace lanescope::views
