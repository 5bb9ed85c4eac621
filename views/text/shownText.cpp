// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/shownText.h"

#include <QResizeEvent>

namespace lanescope::views {

QStringList wrapWords(QString text, const QFontMetrics& metrics, const LineRoom& room) {
    QStringList lines;
    const auto widthOf = [&] { return room.width - (lines.isEmpty() ? room.firstIndent : 0); };
    while (metrics.horizontalAdvance(text) > widthOf() && lines.size() + 1 < room.maxLines) {
        qsizetype end = 0;
        for (qsizetype at = text.indexOf(QLatin1Char(' ')); at >= 0; at = text.indexOf(QLatin1Char(' '), at + 1)) {
            if (metrics.horizontalAdvance(text.left(at)) > widthOf()) break;
            end = at;
        }
        if (end == 0 && (!lines.isEmpty() || room.firstIndent == 0)) break;
        lines << text.left(end);
        if (end > 0) text.remove(0, end + 1);
    }
    return lines << metrics.elidedText(text, Qt::ElideRight, widthOf());
}

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
