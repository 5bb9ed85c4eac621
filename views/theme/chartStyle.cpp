// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/chartStyle.h"

#include <qcustomplot.h>

namespace lanescope::views {

void styleChart(QCustomPlot& plot, const Theme& theme, const QFont& font) {
    plot.setBackground(theme.canvas);
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setBasePen(QPen(theme.separator));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme.mutedText);
        axis->setLabelColor(theme.mutedText);
        axis->setTickLabelFont(font);
        axis->setLabelFont(font);
        axis->grid()->setPen(QPen(theme.grid));
        axis->grid()->setZeroLinePen(QPen(theme.grid));
    }
    plot.xAxis->grid()->setVisible(false);
    plot.xAxis->setVisible(true);
    plot.yAxis->setVisible(true);
}

void showFocus(QCustomPlot& plot, const Theme& theme, bool hasFocus) {
    plot.axisRect()->setBackground(hasFocus ? QBrush(Theme::mix(theme.canvas, theme.accent, 0.05))
                                            : QBrush(Qt::NoBrush));
    plot.replot(QCustomPlot::rpQueuedReplot);
}

void sayEmpty(QCustomPlot& plot, const Theme& theme, const QFont& font, const QString& sentence) {
    plot.xAxis->setVisible(false);
    plot.yAxis->setVisible(false);
    auto* text = new QCPItemText(&plot);
    text->position->setType(QCPItemPosition::ptAxisRectRatio);
    text->position->setCoords(0.5, 0.5);
    text->setPositionAlignment(Qt::AlignCenter);
    text->setText(sentence);
    text->setColor(theme.mutedText);
    text->setFont(font);
}

ChartUnit chartUnit(double greatestNs) {
    if (greatestNs >= 2e9) return {1e9, "s"};
    if (greatestNs >= 2e6) return {1e6, "ms"};
    if (greatestNs >= 2e3) return {1e3, "us"};
    return {};
}

}  // namespace lanescope::views
