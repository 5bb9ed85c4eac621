// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/text/shownText.h"

#include <QResizeEvent>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace lanescope::views {

QString shortDuration(int64_t ns) {
    constexpr double almost = 0.9995;  // rounds up to the next unit
    constexpr std::array<std::pair<double, const char*>, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}}};
    const double size = std::abs(static_cast<double>(ns));
    const QString sign = ns < 0 ? QString(QChar(0x2212)) : QString();
    for (const auto& [factor, name] : units) {
        if (size < factor * almost) continue;
        const double value = size / factor;
        const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        return sign + QString::number(value, 'f', decimals) + QLatin1Char(' ') + QString::fromUtf8(name);
    }
    return sign + QString::number(size, 'f', 0) + QStringLiteral(" ns");
}

QString signedDuration(int64_t ns) { return (ns > 0 ? QStringLiteral("+") : QString()) + shortDuration(ns); }

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

QSize WrappedLabel::minimumSizeHint() const {
    QSize hint = QLabel::minimumSizeHint();
    if (!text().isEmpty()) hint.setHeight(heightForWidth(width()));
    return hint;
}

void WrappedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) updateGeometry();
}

QStringList toQStrings(const std::vector<std::string>& texts) {
    QStringList list;
    for (const std::string& text : texts) list << toQString(text);
    return list;
}

}  // namespace lanescope::views
