// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/PopupCard.h"

#include <QKeyEvent>
#include <QLineEdit>

namespace lanescope::viewer {
namespace {

constexpr int distanceFromTop = 88;  // below the tool bar
constexpr int margin = 16;

}  // namespace

PopupCard::PopupCard(QWidget* parent) : QFrame(parent), edit_(new QLineEdit(this)) {
    setObjectName("popupCard");
    edit_->installEventFilter(this);
    parent->installEventFilter(this);
    hide();
}

void PopupCard::popUp() {
    edit_->clear();
    place();
    show();
    raise();
    edit_->setFocus(Qt::PopupFocusReason);
}

void PopupCard::dismiss() {
    if (isHidden()) return;
    hide();
    emit dismissed();
}

bool PopupCard::pressKey(int) {
    return false;
}

void PopupCard::place() {
    const QSize space = parentWidget()->size() - QSize(2 * margin, distanceFromTop + margin);
    const QSize size = wantedSize().boundedTo(space);
    setGeometry((parentWidget()->width() - size.width()) / 2, distanceFromTop, size.width(),
                size.height());
}

bool PopupCard::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible()) place();
    if (watched != edit_) return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::FocusOut && isVisible()) {
        const auto reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason != Qt::PopupFocusReason && reason != Qt::ActiveWindowFocusReason) hide();
    }
    // Keys for the line are not to be taken by the commands of the window.
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) event->accept();
    }
    if (event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Escape) {
        dismiss();
        return true;
    }
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        accept();
        return true;
    }
    return pressKey(key) || QFrame::eventFilter(watched, event);
}

}  // namespace lanescope::viewer
