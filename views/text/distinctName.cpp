// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/distinctName.h"

#include <algorithm>

namespace lanescope::views {

QString distinctName(const QString& name, const QString& other, const QFontMetrics& metrics, int width) {
    const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= width; };
    if (fits(name)) return name;
    const QChar dots(0x2026);
    const qsizetype shorter = std::min(name.size(), other.size());
    qsizetype same = 0, sameEnd = 0;
    while (same < shorter && name[same] == other[same]) ++same;
    while (sameEnd < shorter - same && name[name.size() - 1 - sameEnd] == other[other.size() - 1 - sameEnd]) ++sameEnd;
    // Whole words remain.
    while (same > 0 && name[same - 1].isLetterOrNumber()) --same;
    const QString withoutEnd = name.left(name.size() - sameEnd) + dots;
    if (sameEnd > 1 && fits(withoutEnd)) return withoutEnd;
    if (same <= 1) return metrics.elidedText(name, Qt::ElideMiddle, width);
    const QString withoutStart = dots + name.mid(same);
    return fits(withoutStart) ? withoutStart : metrics.elidedText(withoutStart, Qt::ElideRight, width);
}

}  // namespace lanescope::views
