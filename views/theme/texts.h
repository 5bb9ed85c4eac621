// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QPainter>

namespace lanescope::views {

/// Returns the font of headings.
inline QFont strong(QFont font) {
    font.setWeight(QFont::DemiBold);
    return font;
}

inline QFont resized(QFont font, double factor) {
    if (font.pointSizeF() > 0) font.setPointSizeF(font.pointSizeF() * factor);
    return font;
}

/// Draws a text with this font and colour. `place` are the arguments of `QPainter::drawText`.
template <class... Place>
void drawText(QPainter& painter, const QFont& font, const QColor& color, const Place&... place) {
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(place...);
}

}  // namespace lanescope::views
