// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/OverlayPanel.h"

#include <QAbstractTextDocumentLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QStackedWidget>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "views/details/DetailsPanel.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr int gripWidth = 5;
constexpr int minWidthPx = 200;
constexpr int defaultWidthPx = 320;
constexpr int lettersPerLine = 34;
constexpr int minHeightPx = 80;

}  // namespace

OverlayPanel::OverlayPanel(QWidget* parent)
    : QFrame(parent), pages_(new QStackedWidget(this)), close_(new QToolButton(this)) {
    setObjectName(QStringLiteral("overlayPanel"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setMouseTracking(true);
    close_->setText(QChar(0x00d7));
    close_->setAutoRaise(true);
    close_->setToolTip(tr("Close the details (Esc)"));
    close_->setAccessibleName(tr("Close the details"));
    connect(close_, &QToolButton::clicked, this, &OverlayPanel::closed);
    auto* layout = columnIn(this, {gripWidth, 0, gripWidth, gripWidth});
    layout->addWidget(close_, 0, Qt::AlignRight);
    layout->addWidget(pages_, 1);
    hide();
}

void OverlayPanel::addPage(QWidget* page) {
    pages_->addWidget(page);
    if (auto* sheet = page->findChild<FactSheet*>())
        connect(sheet->document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
                &OverlayPanel::fit);
}

void OverlayPanel::setPage(int index) {
    pages_->setCurrentIndex(index);
    fit();
}

void OverlayPanel::setArea(QRect area) {
    if (area == area_) return;
    area_ = area;
    fit();
}

void OverlayPanel::setChosenWidth(int width) {
    chosenWidth_ = width;
    fit();
}

int OverlayPanel::wantedWidth() const {
    const int usual = std::max(defaultWidthPx, lettersPerLine * fontMetrics().averageCharWidth());
    return std::min(std::max(minWidthPx, chosenWidth_ > 0 ? chosenWidth_ : usual), area_.width() / 2);
}

QRect OverlayPanel::placeAt(bool isAtLeft) const {
    const int width = wantedWidth();
    return {isAtLeft ? area_.left() : area_.right() + 1 - width, area_.top(), width, area_.height()};
}

void OverlayPanel::showNextTo(std::optional<int> pointerX, std::optional<int> placeX) {
    const auto covers = [&](bool isAtLeft, std::optional<int> x) {
        const QRect place = placeAt(isAtLeft);
        return x && *x >= place.left() - gripWidth && *x <= place.right() + gripWidth;
    };
    const auto isWorse = [&](bool isAtLeft, std::optional<int> x) {
        return covers(isAtLeft, x) && !covers(!isAtLeft, x);
    };
    // Under the pointer it stays.
    const bool mayMove = isHidden() || !underMouse();
    if (mayMove && (isWorse(isAtLeft_, pointerX) || (!covers(!isAtLeft_, pointerX) && isWorse(isAtLeft_, placeX))))
        isAtLeft_ = !isAtLeft_;
    show();
    raise();
    fit();
}

void OverlayPanel::fit() {
    // The height of the text depends on the width.
    if (isFitting_ || isHidden() || area_.isEmpty()) return;
    isFitting_ = true;
    QRect place = placeAt(isAtLeft_);
    setGeometry(place);
    layout()->activate();
    if (const QWidget* page = pages_->currentWidget()) {
        if (const auto* sheet = page->findChild<FactSheet*>()) {
            const int around = place.height() - sheet->viewport()->height();
            const int text = static_cast<int>(std::ceil(sheet->document()->size().height()));
            place.setHeight(std::clamp(text + around, std::min(minHeightPx, area_.height()), area_.height()));
            setGeometry(place);
        }
    }
    isFitting_ = false;
    emit placed();
}

bool OverlayPanel::isOnGrip(QPoint position) const {
    return isAtLeft_ ? position.x() >= width() - gripWidth : position.x() < gripWidth;
}

void OverlayPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return emit closed();
    QFrame::keyPressEvent(event);
}

void OverlayPanel::mousePressEvent(QMouseEvent* event) {
    event->accept();
    isResizing_ = event->button() == Qt::LeftButton && isOnGrip(event->pos());
}

void OverlayPanel::mouseReleaseEvent(QMouseEvent* event) {
    event->accept();
    isResizing_ = false;
}

void OverlayPanel::mouseMoveEvent(QMouseEvent* event) {
    if (isResizing_) {
        const int x = mapToParent(event->pos()).x();
        return setChosenWidth(std::max(minWidthPx, isAtLeft_ ? x - area_.left() : area_.right() - x));
    }
    setCursor(isOnGrip(event->pos()) ? Qt::SplitHCursor : Qt::ArrowCursor);
}

void OverlayPanel::wheelEvent(QWheelEvent* event) { event->accept(); }

void OverlayPanel::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    fit();
}

void OverlayPanel::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    emit placed();
}

}  // namespace lanescope::views
