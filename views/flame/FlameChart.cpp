// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/flame/FlameChart.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "views/flame/flameTexts.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

/// The frame of `to` that stands at the path of one of `from`, or of as much of it as there is.
uint32_t samePlace(const FlameTree& from, uint32_t node, const FlameTree& to) {
    uint32_t place = 0;
    for (const uint32_t each : from.pathTo(node)) {
        if (each == 0) continue;
        const auto children = to.childrenOf(place);
        const auto found = std::find_if(children.begin(), children.end(), [&](uint32_t child) {
            return to.nameOf(child) == from.nameOf(each);
        });
        if (found == children.end()) break;
        place = *found;
    }
    return place;
}

}  // namespace

FlameChart::FlameChart(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Flame graph"));
    viewport()->setMouseTracking(true);
}

int FlameChart::rowHeight() const {
    return fontMetrics().height() + 4;
}

FlamePlaces FlameChart::places() const {
    return {tree_.get(), root_, viewport()->width(), rowHeight()};
}

uint32_t FlameChart::deepest() const {
    // The deepest of all is no deeper than the tree; rows end where nothing stands in them.
    uint32_t low = tree_->nodes()[root_].depth, high = tree_->depth();
    const FlamePlaces here = places();
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        here.row(middle).empty() ? high = middle - 1 : low = middle;
    }
    return low;
}

void FlameChart::setTree(FlameTreePtr tree) {
    if (tree_ && tree) {
        root_ = samePlace(*tree_, root_, *tree);
        if (current_ != noIndex) current_ = samePlace(*tree_, current_, *tree);
    } else {
        root_ = tree ? tree->firstSplit() : 0;
        current_ = noIndex;
    }
    tree_ = std::move(tree);
    matches_ = {};
    hovered_ = noIndex;
    card_.hide();
    updateScrollBar();
    redraw();
    emit zoomed();
}

void FlameChart::setTheme(const Theme& theme) {
    theme_ = theme;
    redraw();
}

void FlameChart::setMatches(FlameMatches matches) {
    matches_ = std::move(matches);
    redraw();
}

void FlameChart::zoomTo(uint32_t node) {
    if (!tree_ || node >= tree_->nodes().size() || node == root_) return;
    root_ = node;
    current_ = node;
    hovered_ = noIndex;
    card_.hide();
    updateScrollBar();
    verticalScrollBar()->setValue(0);
    redraw();
    emit zoomed();
}

bool FlameChart::goUp() {
    if (!tree_ || root_ == 0) return false;
    const uint32_t left = root_;
    zoomTo(tree_->nodes()[root_].parent);
    // So that Enter leads back.
    setCurrent(left);
    return true;
}

void FlameChart::setCurrent(uint32_t node) {
    current_ = node;
    if (tree_ && node != noIndex) {
        setAccessibleDescription(toQString(tree_->nameOf(node)) + QStringLiteral(", ") +
                                 timeOf(*tree_, node));
        const QRect frame = rectOf(node);
        if (frame.top() < 0 || frame.bottom() >= viewport()->height())
            verticalScrollBar()->setValue(verticalScrollBar()->value() + frame.center().y() -
                                          viewport()->height() / 2);
    }
    viewport()->update();
}

QRect FlameChart::rectOf(uint32_t node) const {
    return places().rectOf(node).translated(0, -verticalScrollBar()->value());
}

uint32_t FlameChart::frameAt(QPoint position) const {
    if (!tree_ || tree_->isEmpty()) return noIndex;
    return places().frameAt(position + QPoint(0, verticalScrollBar()->value()));
}

void FlameChart::redraw() {
    picture_ = {};
    viewport()->update();
}

void FlameChart::updateScrollBar() {
    if (!tree_) return verticalScrollBar()->setRange(0, 0);
    const int rows = static_cast<int>(deepest() - tree_->nodes()[root_].depth) + 1;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setRange(0, std::max(0, rows * rowHeight() - viewport()->height()));
}

void FlameChart::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    if (!tree_ || tree_->isEmpty()) {
        painter.fillRect(viewport()->rect(), theme_.canvas);
        return;
    }
    if (picture_.isNull()) {
        const qreal ratio = devicePixelRatioF();
        picture_ = QPixmap(viewport()->size() * ratio);
        picture_.setDevicePixelRatio(ratio);
        picture_.fill(theme_.canvas);
        QPainter inner(&picture_);
        inner.setFont(font());
        const int scrolled = verticalScrollBar()->value();
        const int firstRow = scrolled / rowHeight();
        const QRect area(0, firstRow * rowHeight() - scrolled, viewport()->width(),
                         viewport()->height() + rowHeight());
        paintFlame(inner, area, places(), tree_->nodes()[root_].depth + uint32_t(firstRow),
                   matches_, theme_);
    }
    painter.drawPixmap(0, 0, picture_);
    if (hovered_ != noIndex) painter.fillRect(rectOf(hovered_).adjusted(0, 0, 0, -1), theme_.hover);
    if (current_ != noIndex && hasFocus()) {
        painter.setPen(QPen(theme_.text, 2));
        painter.drawRect(rectOf(current_).adjusted(1, 1, -2, -2));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme_.accent, 2));
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
    card_.paint(painter, font(), theme_);
}

void FlameChart::resizeEvent(QResizeEvent*) {
    card_.hide();
    hovered_ = noIndex;
    updateScrollBar();
    redraw();
}

void FlameChart::scrollContentsBy(int, int) {
    card_.hide();
    hovered_ = noIndex;
    redraw();
}

void FlameChart::showCard(uint32_t node, QPoint beside) {
    if (!tree_ || node == noIndex) {
        card_.hide();
    } else {
        card_.setContent(toQString(tree_->nameOf(node)), detailOf(*tree_, node, root_),
                         flameColor(*tree_, node, theme_));
        card_.place(beside, viewport()->rect(), font());
    }
    viewport()->update();
}

void FlameChart::mouseMoveEvent(QMouseEvent* event) {
    const uint32_t node = frameAt(event->pos());
    if (node == noIndex && hovered_ == noIndex) return;
    hovered_ = node;
    showCard(node, event->pos());
}

void FlameChart::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const uint32_t node = frameAt(event->pos());
    if (node == noIndex) return;
    if (node == root_)
        setCurrent(node);
    else
        zoomTo(node);
}

void FlameChart::contextMenuEvent(QContextMenuEvent* event) {
    if (!tree_ || tree_->isEmpty()) return;
    const bool isByKey = event->reason() == QContextMenuEvent::Keyboard;
    uint32_t node = isByKey ? current_ : frameAt(event->pos());
    if (node == noIndex) node = root_;
    setCurrent(node);
    const QRect frame = rectOf(node);
    emit menuWanted(node, isByKey ? viewport()->mapToGlobal(frame.bottomLeft() + QPoint(8, 0))
                                  : event->globalPos());
}

void FlameChart::stepTo(uint32_t node) {
    setCurrent(node);
    hovered_ = noIndex;
    const QRect frame = rectOf(node);
    showCard(node, {frame.left() + std::min(frame.width() / 2, 80), frame.bottom() - 8});
}

/// To the next frame of the row that is drawn apart.
void FlameChart::stepBeside(int direction) {
    const std::vector<DrawnFrame> row = drawnFrames(places(), tree_->nodes()[current_].depth);
    const QRect here = rectOf(current_);
    if (direction > 0) {
        for (const DrawnFrame& each : row)
            if (each.x > here.left() && each.node != current_) return stepTo(each.node);
    } else {
        for (auto each = row.rbegin(); each != row.rend(); ++each)
            if (each->x < here.left() && each->node != current_) return stepTo(each->node);
    }
}

void FlameChart::keyPressEvent(QKeyEvent* event) {
    if (!tree_ || tree_->isEmpty()) return QAbstractScrollArea::keyPressEvent(event);
    if (event->matches(QKeySequence::Copy)) return emit copyWanted();
    const auto begin = [this] {
        if (current_ != noIndex) return false;
        stepTo(root_);
        return true;
    };
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (!begin()) stepBeside(event->key() == Qt::Key_Left ? -1 : 1);
            return;
        case Qt::Key_Up:
            if (!begin() && current_ != root_) stepTo(tree_->nodes()[current_].parent);
            return;
        case Qt::Key_Down:
            if (!begin() && !tree_->childrenOf(current_).empty())
                stepTo(tree_->childrenOf(current_).front());
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (current_ != noIndex) zoomTo(current_);
            return;
        case Qt::Key_Home:
            zoomTo(0);
            return;
        case Qt::Key_Escape:
        case Qt::Key_Backspace:
            if (goUp()) return;
            break;
        default:
            break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

void FlameChart::focusInEvent(QFocusEvent*) {
    viewport()->update();
}

void FlameChart::focusOutEvent(QFocusEvent*) {
    card_.hide();
    viewport()->update();
}

void FlameChart::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    updateScrollBar();
    redraw();
}

bool FlameChart::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && hovered_ != noIndex) {
        hovered_ = noIndex;
        showCard(noIndex, {});
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace lanescope::views
