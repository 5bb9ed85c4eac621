// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/wrapWords.h"

namespace lanescope::views {

QStringList wrapWords(QString text, const QFontMetrics& metrics, const LineRoom& room) {
    QStringList lines;
    const auto widthOf = [&] { return room.width - (lines.isEmpty() ? room.firstIndent : 0); };
    while (metrics.horizontalAdvance(text) > widthOf() && lines.size() + 1 < room.mostLines) {
        qsizetype end = 0;
        for (qsizetype at = text.indexOf(QLatin1Char(' ')); at >= 0;
             at = text.indexOf(QLatin1Char(' '), at + 1)) {
            if (metrics.horizontalAdvance(text.left(at)) > widthOf()) break;
            end = at;
        }
        if (end == 0 && (!lines.isEmpty() || room.firstIndent == 0)) break;
        lines << text.left(end);
        if (end > 0) text.remove(0, end + 1);
    }
    return lines << metrics.elidedText(text, Qt::ElideRight, widthOf());
}

}  // namespace lanescope::views
