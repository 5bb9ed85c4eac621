// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/plotCopies.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "views/bandwidth/copyTexts.h"
#include "views/bandwidth/peakLines.h"
#include "views/timeline/timeTicks.h"

namespace lanescope::views {
namespace {

constexpr double pointSize = copyPointSize;
constexpr int leastWidthForLegend = 340;

/// Shapes tell the memory apart where colours cannot be told apart.
QCPScatterStyle::ScatterShape shapeOf(const CopyGroup& group) {
    const auto has = [&](MemoryKind kind) {
        return group.source == kind || group.destination == kind;
    };
    if (has(MemoryKind::Pageable)) return QCPScatterStyle::ssTriangle;
    if (has(MemoryKind::Managed) || has(MemoryKind::ManagedStatic))
        return QCPScatterStyle::ssDiamond;
    if (has(MemoryKind::Pinned)) return QCPScatterStyle::ssDisc;
    return QCPScatterStyle::ssSquare;
}

QCPScatterStyle styleOf(const Theme& theme, const CopyGroup& group) {
    const QColor color = colorOf(theme, group);
    const auto shape = shapeOf(group);
    // Only what is fast is filled: pageable memory stands out by its hollow triangles.
    const bool isFilled = shape != QCPScatterStyle::ssTriangle;
    return QCPScatterStyle(shape, QPen(Theme::mix(color, theme.text, 0.25), 1.3),
                           isFilled ? QBrush(color) : QBrush(theme.canvas), pointSize);
}

/// The text of a power of two: "64 KiB".
QString sizeLabel(double bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    return QStringLiteral("%1 %2").arg(bytes).arg(QLatin1String(units[unit]));
}

/// Draws one answer into one plot.
class CopyPlotter {
  public:
    CopyPlotter(QCustomPlot& plot, const BandwidthAnswer& answer,
                const std::vector<CopyMark>& marks, const Theme& theme, const QFont& font)
        : plot_(&plot), answer_(&answer), marks_(marks), theme_(theme), font_(font) {}

    void plot() {
        switch (answer_->question.chart) {
            case BandwidthChart::OverTime:
                setUpTimeAxis();
                setUpRates(answer_->cells.rates.isLogarithmic());
                return addPoints();
            case BandwidthChart::BySize:
                setUpSizeAxis();
                setUpRates(true);
                return addPoints();
            case BandwidthChart::Histogram:
                setUpHistogramAxes();
                return addBars();
        }
    }

  private:
    const std::vector<CopyGroup>& groups() const { return groupsOf(*answer_); }
    double characterWidth() const { return QFontMetrics(font_).averageCharWidth(); }
    void setUpRates(bool isLogarithmic) {
        const RateExtent& rates = answer_->cells.rates;
        setUpRateAxis(*plot_->yAxis, rates.leastGBps, rates.mostGBps, isLogarithmic,
                      answer_->peaks);
    }
    void setUpTimeAxis();
    void setUpSizeAxis();
    void setUpHistogramAxes();
    void addPoints();
    void addBars();
    /// Those that are shown, most bytes first.
    std::vector<size_t> groupsByBytes() const;
    void addLegend();
    void fitLegend();
    void layOut();

    QCustomPlot* plot_;
    const BandwidthAnswer* answer_;
    const std::vector<CopyMark>& marks_;
    const Theme& theme_;
    QFont font_;
};

void CopyPlotter::setUpHistogramAxes() {
    const RateHistogram& histogram = answer_->histogram;
    double most = 1;
    for (const CopyMark& mark : marks_) most = std::max(most, mark.high);
    setUpRateAxis(*plot_->xAxis, histogram.rates.leastGBps, histogram.rates.mostGBps,
                  histogram.rates.isLogarithmic(), answer_->peaks);
    plot_->yAxis->setScaleType(QCPAxis::stLinear);
    plot_->yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    plot_->yAxis->setNumberFormat(QStringLiteral("f"));
    plot_->yAxis->setNumberPrecision(most < 5 ? 1 : 0);
    plot_->yAxis->setRange(0, most * 1.2);
    plot_->yAxis->setLabel(QObject::tr("copies"));
}

void CopyPlotter::setUpTimeAxis() {
    const TimeRange& shown = answer_->shown;
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const TimeTicks ticks =
        timeTicks(shown, std::max(200, plot_->axisRect()->width()), 9.0 * characterWidth() + 24);
    for (const TimeTick& tick : ticks.ticks)
        if (tick.isMajor && tick.timeNs >= shown.startNs && tick.timeNs <= shown.endNs)
            ticker->addTick(static_cast<double>(tick.timeNs - shown.startNs), tick.label);
    plot_->xAxis->setScaleType(QCPAxis::stLinear);
    plot_->xAxis->setTicker(ticker);
    plot_->xAxis->setRange(0, std::max<double>(1, static_cast<double>(shown.durationNs())));
    plot_->xAxis->setLabel(ticks.hasAnchor ? QObject::tr("time from %1").arg(ticks.anchorLabel)
                                           : QString());
}

void CopyPlotter::setUpSizeAxis() {
    const double least = static_cast<double>(std::max<int64_t>(1, answer_->cells.leastBytes));
    const double most = std::max(least * 2, static_cast<double>(answer_->cells.mostBytes));
    const double octaves = std::log2(most / least);
    const double fitting = std::max(2.0, plot_->axisRect()->width() / (11.0 * characterWidth()));
    const int step = std::max(1, static_cast<int>(std::ceil(octaves / fitting)));
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    for (int power = 0; power < 63; power += step) {
        const double at = std::exp2(power);
        if (at >= least / 2 && at <= most * 2) ticker->addTick(at, sizeLabel(at));
    }
    plot_->xAxis->setScaleType(QCPAxis::stLogarithmic);
    plot_->xAxis->setTicker(ticker);
    plot_->xAxis->setRange(least / 1.5, most * 1.5);
    plot_->xAxis->setLabel(QString());
}

void CopyPlotter::addPoints() {
    const bool isTime = answer_->question.chart == BandwidthChart::OverTime;
    const double nsPerPixel =
        plot_->xAxis->range().size() / std::max(1, plot_->axisRect()->width());
    for (const size_t group : groupsByBytes()) {
        QVector<double> keys, values, lineKeys, lineValues;
        for (const CopyMark& mark : marks_) {
            if (mark.largest.group != group) continue;
            keys.append(mark.x);
            values.append(mark.high);
            if (!isTime || mark.width < 2 * nsPerPixel) continue;
            // A step as long as the copy, and a hole up to the next.
            lineKeys << mark.x << mark.x + mark.width << mark.x + mark.width;
            lineValues << mark.high << mark.high << qQNaN();
        }
        if (keys.isEmpty()) continue;
        if (!lineKeys.isEmpty()) {
            QCPGraph* steps = plot_->addGraph();
            steps->setPen(QPen(colorOf(theme_, groups()[group]), 2.5));
            steps->setAdaptiveSampling(false);
            steps->setData(lineKeys, lineValues, true);
            steps->removeFromLegend();
        }
        QCPGraph* points = plot_->addGraph();
        points->setLineStyle(QCPGraph::lsNone);
        points->setScatterStyle(styleOf(theme_, groups()[group]));
        points->setAdaptiveSampling(false);
        points->setData(keys, values, true);
        points->setName(groupText(*answer_->trace, groups()[group]));
    }
    addLegend();
    layOut();
    addPeakLines(*plot_, *plot_->yAxis, answer_->peaks, theme_, font_);
}

void CopyPlotter::addBars() {
    for (const CopyMark& mark : marks_) {
        auto* bar = new QCPItemRect(plot_);
        bar->topLeft->setCoords(mark.x, mark.high);
        bar->bottomRight->setCoords(mark.x + mark.width, mark.low);
        bar->setPen(QPen(theme_.canvas, 1));
        bar->setBrush(colorOf(theme_, groups()[mark.largest.group]));
    }
    // Only for the legend: bars of different widths are no QCPBars.
    for (const size_t group : groupsByBytes()) {
        QCPGraph* graph = plot_->addGraph();
        const QColor color = colorOf(theme_, groups()[group]);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssSquare, color, color, pointSize + 2));
        graph->setName(groupText(*answer_->trace, groups()[group]));
    }
    addLegend();
    layOut();
    addPeakLines(*plot_, *plot_->xAxis, answer_->peaks, theme_, font_);
}

std::vector<size_t> CopyPlotter::groupsByBytes() const {
    std::vector<double> bytes(groups().size());
    std::vector<bool> isShown(groups().size());
    for (const CopyMark& mark : marks_) {
        bytes[mark.largest.group] += static_cast<double>(mark.bytes);
        isShown[mark.largest.group] = true;
    }
    std::vector<size_t> order;
    for (size_t group = 0; group < isShown.size(); ++group)
        if (isShown[group]) order.push_back(group);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    return order;
}

void CopyPlotter::addLegend() {
    QCPLegend* legend = plot_->legend;
    legend->setVisible(plot_->width() >= leastWidthForLegend);
    legend->setFont(font_);
    legend->setTextColor(theme_.text);
    legend->setBrush(Qt::NoBrush);
    legend->setBorderPen(Qt::NoPen);
    legend->setIconSize(14, 12);
    legend->setRowSpacing(1);
    legend->setMargins({6, 6, 6, 6});
    fitLegend();
    if (plot_->plotLayout()->hasElement(0, 1)) return;
    // Beside the points and not upon them.
    plot_->plotLayout()->addElement(0, 1, legend);
    plot_->plotLayout()->setColumnStretchFactor(1, 0.001);
}

void CopyPlotter::fitLegend() {
    QCPLegend* legend = plot_->legend;
    if (!legend->visible()) return legend->clearItems();
    const QFontMetrics metrics(font_);
    const int rows = std::max(1, (plot_->height() - 16) / (metrics.height() + 1));
    const int hidden = legend->itemCount() > rows ? legend->itemCount() - rows + 1 : 0;
    if (hidden > 0) {
        for (int item = 0; item < hidden; ++item) legend->removeItem(legend->itemCount() - 1);
        QCPGraph* more = plot_->addGraph();  // a legend has lines for graphs only
        more->setLineStyle(QCPGraph::lsNone);
        more->setName(QObject::tr("and %1 more").arg(hidden));
    }
    const int widest = plot_->width() * 3 / 10;
    for (int item = 0; item < legend->itemCount(); ++item) {
        auto* named = qobject_cast<QCPPlottableLegendItem*>(legend->item(item));
        if (named == nullptr) continue;
        QCPAbstractPlottable* plottable = named->plottable();
        plottable->setName(metrics.elidedText(plottable->name(), Qt::ElideRight, widest));
    }
}

/// Sizes as they will be painted: names of peaks are fitted to them.
void CopyPlotter::layOut() {
    for (const auto phase :
         {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout})
        plot_->plotLayout()->update(phase);
}

}  // namespace

void plotCopies(QCustomPlot& plot, const BandwidthAnswer& answer,
                const std::vector<CopyMark>& marks, const Theme& theme, const QFont& font) {
    CopyPlotter(plot, answer, marks, theme, font).plot();
}

}  // namespace lanescope::views
