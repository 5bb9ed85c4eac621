#include "views/bandwidth/peakLines.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "views/bandwidth/copyTexts.h"

namespace lanescope {
namespace {

QString shortRate(double gigabytesPerSecond) {
    const bool isLarge = gigabytesPerSecond >= 1000;
    return QString::number(gigabytesPerSecond, isLarge ? 'f' : 'g', isLarge ? 0 : 3);
}

/// Peaks that stand closer together than their names are high.
struct Cluster {
    std::vector<const CopyPeak*> peaks;
    double first = 0;  ///< Place of the first one in pixels.
};

QString nameOf(const Cluster& cluster) {
    QStringList names;
    for (const CopyPeak* peak : cluster.peaks)
        names << QStringLiteral("%1: %2").arg(peakText(*peak), shortRate(peak->gigabytesPerSecond));
    names.removeDuplicates();
    return names.join(QStringLiteral(" \u00b7 "));
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

void addName(QCustomPlot& plot, QCPAxis& rates, const Cluster& cluster, const Theme& theme,
             const QFont& font) {
    const bool isVertical = rates.orientation() == Qt::Horizontal;
    auto* text = new QCPItemText(&plot);
    text->position->setTypeX(isVertical ? QCPItemPosition::ptPlotCoords
                                        : QCPItemPosition::ptAxisRectRatio);
    text->position->setTypeY(isVertical ? QCPItemPosition::ptAxisRectRatio
                                        : QCPItemPosition::ptPlotCoords);
    const double rate = cluster.peaks.back()->gigabytesPerSecond;
    text->position->setCoords(isVertical ? rate : 0.995, isVertical ? 0.01 : rate);
    text->setPositionAlignment(isVertical ? Qt::AlignRight | Qt::AlignTop
                                          : Qt::AlignRight | Qt::AlignBottom);
    text->setPadding({3, 1, 3, 1});
    text->setText(nameOf(cluster));
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
    const double textHeight = QFontMetricsF(font).height() + 2;
    std::vector<Cluster> clusters;
    for (const CopyPeak* peak : sorted) {
        if (!rates.range().contains(peak->gigabytesPerSecond)) continue;
        addLine(plot, rates, peak->gigabytesPerSecond, theme);
        const double place = rates.coordToPixel(peak->gigabytesPerSecond);
        if (clusters.empty() || std::abs(place - clusters.back().first) > textHeight)
            clusters.push_back({{}, place});
        clusters.back().peaks.push_back(peak);
    }
    for (const Cluster& cluster : clusters) addName(plot, rates, cluster, theme, font);
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

}  // namespace lanescope
