// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/WrappedLabel.h"

#include <QResizeEvent>

namespace lanescope::views {

WrappedLabel::WrappedLabel(QWidget* parent) : QLabel(parent) {
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
}

QSize WrappedLabel::minimumSizeHint() const {
    QSize hint = QLabel::minimumSizeHint();
    if (!text().isEmpty()) hint.setHeight(heightForWidth(width()));
    return hint;
}

void WrappedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) updateGeometry();
}

}  // namespace lanescope::views
