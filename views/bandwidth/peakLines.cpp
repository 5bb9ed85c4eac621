// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/peakLines.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "views/bandwidth/copyTexts.h"
#include "views/text/shortRate.h"

namespace lanescope::views {
namespace {

/// Peaks that stand closer together than their names are high.
struct Cluster {
    std::vector<const CopyPeak*> peaks;  ///< From the least on.
    double place = 0;                    ///< Of the greatest, at which the name stands, in pixels.
};

/// "GPU memory, nominal: 2407 / 4814 \u00b7 NVLink, nominal: 450"; the rates alone where there is
/// no room for more.
QString nameOf(const Cluster& cluster, double room, const QFontMetricsF& metrics) {
    QStringList names, rates;
    for (const CopyPeak* peak : cluster.peaks) {
        const QString rate = shortRate(peak->gigabytesPerSecond);
        const QString name = peakText(*peak) + QStringLiteral(": ");
        if (!names.isEmpty() && names.last().startsWith(name))
            names.last() += QStringLiteral(" / ") + rate;
        else
            names << name + rate;
        rates << rate;
    }
    const QString whole = names.join(QStringLiteral(" \u00b7 "));
    return metrics.horizontalAdvance(whole) <= room ? whole : rates.join(QStringLiteral(" / "));
}

void addLine(QCustomPlot& plot, QCPAxis& rates, double rate, const Theme& theme) {
    auto* line = new QCPItemStraightLine(&plot);
    line->setPen(QPen(theme.mutedText, 1, Qt::DashLine));
    const bool isVertical = rates.orientation() == Qt::Horizontal;
    for (QCPItemPosition* point : {line->point1, line->point2}) {
        point->setTypeX(isVertical ? QCPItemPosition::ptPlotCoords
                                   : QCPItemPosition::ptAxisRectRatio);
        point->setTypeY(isVertical ? QCPItemPosition::ptAxisRectRatio
                                   : QCPItemPosition::ptPlotCoords);
    }
    line->point1->setCoords(isVertical ? rate : 0, isVertical ? 0 : rate);
    line->point2->setCoords(isVertical ? rate : 1, isVertical ? 1 : rate);
}

void addName(QCustomPlot& plot, QCPAxis& rates, const Cluster& cluster, double room,
             const Theme& theme, const QFont& font) {
    const bool isVertical = rates.orientation() == Qt::Horizontal;
    auto* text = new QCPItemText(&plot);
    text->setLayer(QStringLiteral("overlay"));  // above the points
    text->position->setTypeX(isVertical ? QCPItemPosition::ptPlotCoords
                                        : QCPItemPosition::ptAxisRectRatio);
    text->position->setTypeY(isVertical ? QCPItemPosition::ptAxisRectRatio
                                        : QCPItemPosition::ptPlotCoords);
    const double rate = cluster.peaks.back()->gigabytesPerSecond;
    text->position->setCoords(isVertical ? rate : 0.995, isVertical ? 0.01 : rate);
    text->setPositionAlignment(isVertical ? Qt::AlignRight | Qt::AlignTop
                                          : Qt::AlignRight | Qt::AlignBottom);
    text->setPadding({3, 1, 3, 1});
    text->setText(nameOf(cluster, room - 8, QFontMetricsF(font)));
    text->setFont(font);
    text->setColor(theme.mutedText);
    QColor veil = theme.canvas;
    veil.setAlpha(210);
    text->setBrush(veil);
}

}  // namespace

void addPeakLines(QCustomPlot& plot, QCPAxis& rates, const std::vector<CopyPeak>& peaks,
                  const Theme& theme, const QFont& font) {
    std::vector<const CopyPeak*> sorted;
    for (const CopyPeak& peak : peaks) sorted.push_back(&peak);
    std::sort(sorted.begin(), sorted.end(), [](const CopyPeak* a, const CopyPeak* b) {
        return a->gigabytesPerSecond < b->gigabytesPerSecond;
    });
    // Names stand above each other, or in one row right of each other.
    const bool areInRow = rates.orientation() == Qt::Horizontal;
    const QFontMetricsF metrics(font);
    const double apart =
        areInRow ? metrics.horizontalAdvance(QStringLiteral("0000")) + 8 : metrics.height() + 2;
    std::vector<Cluster> clusters;
    for (const CopyPeak* peak : sorted) {
        if (!rates.range().contains(peak->gigabytesPerSecond)) continue;
        addLine(plot, rates, peak->gigabytesPerSecond, theme);
        const double place = rates.coordToPixel(peak->gigabytesPerSecond);
        if (clusters.empty() || std::abs(place - clusters.back().place) > apart)
            clusters.emplace_back();
        clusters.back().peaks.push_back(peak);
        clusters.back().place = place;
    }
    double from = rates.axisRect()->left();
    for (const Cluster& cluster : clusters) {
        const double room = areInRow ? cluster.place - from : rates.axisRect()->width();
        addName(plot, rates, cluster, room, theme, font);
        from = cluster.place;
    }
}

void setUpRateAxis(QCPAxis& axis, double least, double most, bool isLogarithmic,
                   const std::vector<CopyPeak>& peaks) {
    for (const CopyPeak& peak : peaks) most = std::max(most, peak.gigabytesPerSecond);
    axis.setScaleType(isLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (isLogarithmic) {
        axis.setTicker(QSharedPointer<QCPAxisTickerLog>::create());
        const double bottom = std::max(least, most * 1e-9) / 1.6;
        axis.setRange(bottom, most * std::pow(most / bottom, 0.12));
    } else {
        axis.setTicker(QSharedPointer<QCPAxisTicker>::create());
        axis.setRange(0, most > 0 ? most * 1.16 : 1);
    }
    axis.setNumberFormat(QStringLiteral("g"));
    axis.setNumberPrecision(6);
    axis.setLabel(QStringLiteral("GB/s"));
}

}  // namespace lanescope::views
