// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/heatColors.h"

#include <QLinearGradient>
#include <QPainter>

namespace lanescope::views {

QColor heatColor(const Theme& theme, const QColor& strong, double share) {
    constexpr double faintest = 0.06;
    return Theme::mix(theme.canvas, strong, faintest + (1 - faintest) * share);
}

void paintHeatBar(QPainter& painter, const QRect& bar, const QColor& low, const QColor& middle,
                  const QColor& high) {
    QLinearGradient colors(bar.topLeft(), bar.topRight());
    colors.setColorAt(0, low);
    if (middle.isValid()) colors.setColorAt(0.5, middle);
    colors.setColorAt(1, high);
    painter.fillRect(bar, colors);
}

}  // namespace lanescope::views
