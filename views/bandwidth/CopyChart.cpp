// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/bandwidth/CopyChart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "model/text/formatValue.h"
#include "views/text/shownText.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

namespace {

std::vector<CopyMark> pointMarks(const BandwidthAnswer& answer) {
    const bool isTime = answer.question.chart == BandwidthChart::OverTime;
    std::vector<CopyMark> marks;
    for (const CopyCell& cell : answer.cells.cells) {
        CopyMark mark{.largest = cell.largest, .count = cell.count, .bytes = cell.largest.bytes};
        mark.low = mark.high = cell.largest.gigabytesPerSecond;
        const int64_t startNs = std::max(cell.largest.startNs, answer.shown.startNs);
        mark.x = isTime ? static_cast<double>(startNs - answer.shown.startNs) : static_cast<double>(cell.largest.bytes);
        if (isTime) mark.width = static_cast<double>(cell.largest.endNs - startNs);
        marks.push_back(mark);
    }
    std::stable_sort(marks.begin(), marks.end(), [](const CopyMark& a, const CopyMark& b) { return a.x < b.x; });
    return marks;
}

std::vector<CopyMark> barMarks(const RateHistogram& histogram) {
    std::vector<CopyMark> marks;
    double stackedTo = 0;
    int lastBin = -1;
    for (const RateBin& bin : histogram.bins) {
        if (bin.bin != lastBin) stackedTo = 0;
        lastBin = bin.bin;
        CopyMark mark{.x = histogram.binStart(bin.bin), .largest = bin.largest, .count = bin.count, .bytes = bin.bytes};
        mark.width = histogram.binStart(bin.bin + 1) - mark.x;
        mark.low = stackedTo;
        mark.high = stackedTo += static_cast<double>(bin.count);
        marks.push_back(mark);
    }
    return marks;
}

/// Returns the marks of the requested chart, from left to right. O(cells log cells).
std::vector<CopyMark> copyMarks(const BandwidthAnswer& answer) {
    return answer.question.chart == BandwidthChart::Histogram ? barMarks(answer.histogram) : pointMarks(answer);
}

/// Returns the groups that `CopyPoint::group` of the marks indexes.
const std::vector<CopyGroup>& groupsOf(const BandwidthAnswer& answer) {
    return answer.question.chart == BandwidthChart::Histogram ? answer.histogram.groups : answer.cells.groups;
}

/// Removes the marks of some groups; bars of the others are stacked again.
void removeGroups(std::vector<CopyMark>& marks, const BandwidthAnswer& answer, const std::set<CopyGroup>& hidden) {
    const std::vector<CopyGroup>& groups = groupsOf(answer);
    std::erase_if(marks, [&](const CopyMark& mark) { return hidden.contains(groups[mark.largest.group]); });
    if (answer.question.chart != BandwidthChart::Histogram) return;
    double top = 0;
    for (size_t index = 0; index < marks.size(); ++index) {
        CopyMark& mark = marks[index];
        if (index == 0 || marks[index - 1].x != mark.x) top = 0;
        mark.high = top + (mark.high - mark.low);
        mark.low = std::exchange(top, mark.high);
    }
}

/// Describes the copies of a mark in one sentence.
QString markText(const BandwidthAnswer& answer, const CopyMark& mark) {
    const CopyGroup& group = groupsOf(answer)[mark.largest.group];
    const QString copy = copyText(*answer.trace, group, mark.largest);
    if (mark.count == 1) return copy;
    const QString count = toQString(formatCount(mark.count));
    if (answer.question.chart == BandwidthChart::Histogram)
        return QObject::tr("%1 copies, %2, at about this rate; the largest is %3")
            .arg(count, toQString(formatBytes(mark.bytes)), copy);
    return QObject::tr("%1 copies here; the largest is %2").arg(count, copy);
}

/// Peaks closer together than the height of their names.
struct Cluster {
    std::vector<const CopyPeak*> peaks;  ///< Ascending.
    double place = 0;                    ///< Position of the greatest peak and of the name, in pixels.
};

/// Returns, for example, "GPU memory, nominal: 2407 / 4814 · NVLink, nominal: 450"; only the rates
/// if the room is too small.
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
        point->setTypeX(isVertical ? QCPItemPosition::ptPlotCoords : QCPItemPosition::ptAxisRectRatio);
        point->setTypeY(isVertical ? QCPItemPosition::ptAxisRectRatio : QCPItemPosition::ptPlotCoords);
    }
    line->point1->setCoords(isVertical ? rate : 0, isVertical ? 0 : rate);
    line->point2->setCoords(isVertical ? rate : 1, isVertical ? 1 : rate);
}

void addName(QCustomPlot& plot, QCPAxis& rates, const Cluster& cluster, double room, const Theme& theme,
             const QFont& font) {
    const bool isVertical = rates.orientation() == Qt::Horizontal;
    auto* text = new QCPItemText(&plot);
    text->setLayer(QStringLiteral("overlay"));  // above the points
    text->position->setTypeX(isVertical ? QCPItemPosition::ptPlotCoords : QCPItemPosition::ptAxisRectRatio);
    text->position->setTypeY(isVertical ? QCPItemPosition::ptAxisRectRatio : QCPItemPosition::ptPlotCoords);
    const double rate = cluster.peaks.back()->gigabytesPerSecond;
    text->position->setCoords(isVertical ? rate : 0.995, isVertical ? 0.01 : rate);
    text->setPositionAlignment(Qt::AlignRight | (isVertical ? Qt::AlignTop : Qt::AlignBottom));
    text->setClipToAxisRect(false);  // the highest may need the margin
    text->setPadding({3, 1, 3, 1});
    text->setText(nameOf(cluster, room - 8, QFontMetricsF(font)));
    text->setFont(font);
    text->setColor(theme.mutedText);
    text->setBrush(translucent(theme.canvas, 210));
}

/// Adds dashed, named lines at the peak rates of the links of a trace. Peaks with overlapping names
/// share a name. `rates` is the axis of GB/s with its range set; the lines cross it.
void addPeakLines(QCustomPlot& plot, QCPAxis& rates, const std::vector<CopyPeak>& peaks, const Theme& theme,
                  const QFont& font) {
    std::vector<const CopyPeak*> sorted;
    for (const CopyPeak& peak : peaks) sorted.push_back(&peak);
    std::ranges::sort(sorted, {}, &CopyPeak::gigabytesPerSecond);
    // Names are stacked vertically, or side by side in one row.
    const bool areInRow = rates.orientation() == Qt::Horizontal;
    const QFontMetricsF metrics(font);
    const double minDistance = areInRow ? metrics.horizontalAdvance(QStringLiteral("0000")) + 8 : metrics.height() + 2;
    std::vector<Cluster> clusters;
    for (const CopyPeak* peak : sorted) {
        if (!rates.range().contains(peak->gigabytesPerSecond)) continue;
        addLine(plot, rates, peak->gigabytesPerSecond, theme);
        const double place = rates.coordToPixel(peak->gigabytesPerSecond);
        if (clusters.empty() || std::abs(place - clusters.back().place) > minDistance) clusters.emplace_back();
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

/// Sets up the axis of GB/s from below `minValue` to above `maxValue` and the peaks.
void setUpRateAxis(QCPAxis& axis, double minValue, double maxValue, bool isLogarithmic,
                   const std::vector<CopyPeak>& peaks) {
    for (const CopyPeak& peak : peaks) maxValue = std::max(maxValue, peak.gigabytesPerSecond);
    axis.setScaleType(isLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (isLogarithmic) {
        axis.setTicker(QSharedPointer<QCPAxisTickerLog>::create());
        const double bottom = std::max(minValue, maxValue * 1e-9) / 1.6;
        axis.setRange(bottom, maxValue * std::pow(maxValue / bottom, 0.12));
    } else {
        axis.setTicker(QSharedPointer<QCPAxisTicker>::create());
        axis.setRange(0, maxValue > 0 ? maxValue * 1.16 : 1);
    }
    axis.setNumberFormat(QStringLiteral("g"));
    axis.setNumberPrecision(6);
    axis.setLabel(QStringLiteral("GB/s"));
}

constexpr double pointSize = 7;  // in pixels
constexpr int minWidthForLegendPx = 340;

/// Shapes distinguish the kinds of memory where colours do not.
QCPScatterStyle::ScatterShape shapeOf(const CopyGroup& group) {
    const auto has = [&](MemoryKind kind) { return group.source == kind || group.destination == kind; };
    if (has(MemoryKind::Pageable)) return QCPScatterStyle::ssTriangle;
    if (has(MemoryKind::Managed) || has(MemoryKind::ManagedStatic)) return QCPScatterStyle::ssDiamond;
    if (has(MemoryKind::Pinned)) return QCPScatterStyle::ssDisc;
    return QCPScatterStyle::ssSquare;
}

QCPScatterStyle styleOf(const Theme& theme, const CopyGroup& group) {
    const QColor color = colorOf(theme, group);
    const auto shape = shapeOf(group);
    // Only fast copies are filled: pageable memory has hollow triangles.
    const bool isFilled = shape != QCPScatterStyle::ssTriangle;
    return QCPScatterStyle(shape, QPen(Theme::mix(color, theme.text, 0.25), 1.3),
                           isFilled ? QBrush(color) : QBrush(theme.canvas), pointSize);
}

/// Returns the text of a power of two: "64 KiB".
QString sizeLabel(double bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    return QStringLiteral("%1 %2").arg(bytes).arg(QLatin1String(units[unit]));
}

/// Adds axes, marks, legend and peaks of a chart of copies to a styled, empty plot. Requires marks of the answer,
/// without the groups in `hidden`, which are faint in the legend.
class CopyPlotter {
  public:
    CopyPlotter(QCustomPlot& plot, const BandwidthAnswer& answer, const std::vector<CopyMark>& marks,
                const std::set<CopyGroup>& hidden, const Theme& theme, const QFont& font)
        : plot_(&plot), answer_(&answer), marks_(marks), hidden_(hidden), theme_(theme), font_(font) {}

    std::vector<CopyGroup> legendGroups() const {
        std::vector<CopyGroup> inOrder;
        for (const size_t group : groupsByBytes()) inOrder.push_back(groups()[group]);
        for (const CopyGroup& group : groups())
            if (hidden_.contains(group)) inOrder.push_back(group);
        return inOrder;
    }

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
            case BandwidthChart::Histogram: setUpHistogramAxes(); return addBars();
        }
    }

  private:
    const std::vector<CopyGroup>& groups() const { return groupsOf(*answer_); }
    double characterWidth() const { return QFontMetrics(font_).averageCharWidth(); }
    void setUpRates(bool isLogarithmic) {
        const auto [low, high] = std::ranges::minmax(marks_, {}, &CopyMark::high);
        setUpRateAxis(*plot_->yAxis, low.high, high.high, isLogarithmic, answer_->peaks);
    }

    void setUpTimeAxis() {
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
        plot_->xAxis->setLabel(ticks.hasAnchor ? QObject::tr("time from %1").arg(ticks.anchorLabel) : QString());
    }

    void setUpSizeAxis() {
        const double minValue = static_cast<double>(std::max<int64_t>(1, answer_->cells.minBytes));
        const double maxValue = std::max(minValue * 2, static_cast<double>(answer_->cells.maxBytes));
        const double octaves = std::log2(maxValue / minValue);
        const double fitting = std::max(2.0, plot_->axisRect()->width() / (11.0 * characterWidth()));
        const int step = std::max(1, static_cast<int>(std::ceil(octaves / fitting)));
        auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        for (int power = 0; power < 63; power += step) {
            const double at = std::exp2(power);
            if (at >= minValue / 2 && at <= maxValue * 2) ticker->addTick(at, sizeLabel(at));
        }
        plot_->xAxis->setScaleType(QCPAxis::stLogarithmic);
        plot_->xAxis->setTicker(ticker);
        plot_->xAxis->setRange(minValue / 1.5, maxValue * 1.5);
        plot_->xAxis->setLabel(QString());
    }

    void setUpHistogramAxes() {
        const RateHistogram& histogram = answer_->histogram;
        double maxValue = 1;
        for (const CopyMark& mark : marks_) maxValue = std::max(maxValue, mark.high);
        setUpRateAxis(*plot_->xAxis, histogram.rates.minGBps, histogram.rates.maxGBps, histogram.rates.isLogarithmic(),
                      answer_->peaks);
        plot_->yAxis->setScaleType(QCPAxis::stLinear);
        plot_->yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
        plot_->yAxis->setNumberFormat(QStringLiteral("f"));
        plot_->yAxis->setNumberPrecision(maxValue < 5 ? 1 : 0);
        plot_->yAxis->setRange(0, maxValue * 1.2);
        plot_->yAxis->setLabel(QObject::tr("copies"));
    }

    void addPoints() {
        const bool isTime = answer_->question.chart == BandwidthChart::OverTime;
        const double nsPerPixel = plot_->xAxis->range().size() / std::max(1, plot_->axisRect()->width());
        for (const size_t group : groupsByBytes()) {
            QVector<double> keys, values, lineKeys, lineValues;
            for (const CopyMark& mark : marks_) {
                if (mark.largest.group != group) continue;
                keys.append(mark.x);
                values.append(mark.high);
                if (!isTime || mark.width < 2 * nsPerPixel) continue;
                // A step as long as the copy, then a gap up to the next.
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
            QCPGraph* points = addPoints(groups()[group], styleOf(theme_, groups()[group]));
            points->setAdaptiveSampling(false);
            points->setData(keys, values, true);
        }
        addLegend();
        layOut();
        addPeakLines(*plot_, *plot_->yAxis, answer_->peaks, theme_, font_);
    }

    void addBars() {
        for (const CopyMark& mark : marks_) {
            auto* bar = new QCPItemRect(plot_);
            bar->topLeft->setCoords(mark.x, mark.high);
            bar->bottomRight->setCoords(mark.x + mark.width, mark.low);
            bar->setPen(QPen(theme_.canvas, 1));
            bar->setBrush(colorOf(theme_, groups()[mark.largest.group]));
        }
        // Only for the legend: QCPBars cannot have different widths.
        for (const size_t group : groupsByBytes()) {
            const QColor color = colorOf(theme_, groups()[group]);
            addPoints(groups()[group], QCPScatterStyle(QCPScatterStyle::ssSquare, color, color, pointSize + 2));
        }
        addLegend();
        layOut();
        addPeakLines(*plot_, *plot_->xAxis, answer_->peaks, theme_, font_);
    }

    /// Adds a graph of points with an entry of the legend.
    QCPGraph* addPoints(const CopyGroup& group, const QCPScatterStyle& style) {
        QCPGraph* points = plot_->addGraph();
        points->setLineStyle(QCPGraph::lsNone);
        points->setScatterStyle(style);
        points->setName(groupText(*answer_->trace, group));
        return points;
    }

    /// Returns the shown groups by bytes, descending.
    std::vector<size_t> groupsByBytes() const {
        std::vector<double> bytes(groups().size());
        std::vector<bool> isShown(groups().size());
        for (const CopyMark& mark : marks_) {
            bytes[mark.largest.group] += static_cast<double>(mark.bytes);
            isShown[mark.largest.group] = true;
        }
        std::vector<size_t> order;
        for (size_t group = 0; group < isShown.size(); ++group)
            if (isShown[group]) order.push_back(group);
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
        return order;
    }

    void addLegend() {
        QCPLegend* legend = plot_->legend;
        const int shown = legend->itemCount();
        for (const CopyGroup& group : groups()) {
            if (!hidden_.contains(group)) continue;
            addPoints(group, QCPScatterStyle(shapeOf(group), QPen(theme_.separator), Qt::NoBrush, pointSize));
        }
        legend->setVisible(plot_->width() >= minWidthForLegendPx);
        legend->setFont(font_);
        legend->setTextColor(theme_.text);
        legend->setBrush(Qt::NoBrush);
        legend->setBorderPen(Qt::NoPen);
        legend->setIconSize(14, 12);
        legend->setRowSpacing(1);
        legend->setMargins({6, 6, 6, 6});
        QFont struck = font_;
        struck.setStrikeOut(true);
        for (int item = shown; item < legend->itemCount(); ++item) {
            legend->item(item)->setFont(struck);
            legend->item(item)->setTextColor(theme_.mutedText);
        }
        fitLegend();
        if (plot_->plotLayout()->elementCount() > 1) return;
        // Next to the points instead of on them, at the top.
        auto* column = new QCPLayoutGrid;
        plot_->plotLayout()->addElement(0, 1, column);
        plot_->plotLayout()->setColumnStretchFactor(1, 0.001);
        column->addElement(0, 0, legend);
        column->addElement(1, 0, new QCPLayoutElement(plot_));  // the rest of the height
        column->setRowStretchFactor(0, 0.001);
    }

    void fitLegend() {
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

    /// Lays out with the final font sizes, because names of peaks are fitted to them.
    void layOut() {
        for (const auto phase :
             {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout})
            plot_->plotLayout()->update(phase);
    }

    QCustomPlot* plot_;
    const BandwidthAnswer* answer_;
    const std::vector<CopyMark>& marks_;
    const std::set<CopyGroup>& hidden_;
    const Theme& theme_;
    QFont font_;
};

constexpr double pixelsPerPlace = 4;  // closer points overlap
constexpr double pixelsPerBin = 12;
constexpr double reach = 12;  // around the pointer, in pixels
constexpr int dragDistance = 5;

}  // namespace

CopyChart::CopyChart(BandwidthChart kind, QWidget* parent) : PlotWidget(parent), kind_(kind) {
    setAccessibleName(kind == BandwidthChart::OverTime ? tr("GB/s of the copies over time")
                      : kind == BandwidthChart::BySize ? tr("GB/s of the copies by their size")
                                                       : tr("How many copies had which GB/s"));
    plot_->setMouseTracking(true);
    plot_->addLayer(QStringLiteral("marks"), plot_->layer(QStringLiteral("main")));
    plot_->layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmBuffered);
    rebuild();
}

void CopyChart::setAnswer(std::shared_ptr<const BandwidthAnswer> answer) {
    if (answer && answer->question.chart != kind_) return;
    answer_ = std::move(answer);
    chosen_.reset();
    if (answer_ && !isFilteredByUser_) {
        hidden_.clear();
        const std::vector<CopyGroup>& groups = groupsOf(*answer_);
        const auto isMemset = [](const CopyGroup& group) { return group.isMemset; };
        if (!std::ranges::all_of(groups, isMemset))
            std::ranges::copy_if(groups, std::inserter(hidden_, hidden_.end()), isMemset);
    }
    rebuild();
}

QRect CopyChart::legendPlace(size_t entry) const {
    const QCPLegend* legend = plot_->legend;
    if (!legend->visible() || static_cast<int>(entry) >= legend->itemCount()) return {};
    return legend->item(static_cast<int>(entry))->outerRect();
}

CopyGrid CopyChart::grid() const {
    return CopyGrid{.across = kind_ == BandwidthChart::BySize ? CopyAxis::Size : CopyAxis::Time,
                    .columns = std::max(20, static_cast<int>(width() / pixelsPerPlace)),
                    .rows = std::max(10, static_cast<int>(height() / pixelsPerPlace))};
}

int CopyChart::binCount() const { return std::clamp(static_cast<int>(width() / pixelsPerBin), 10, 60); }

void CopyChart::draw() {
    marks_.clear();
    ring_ = nullptr;
    band_ = nullptr;
    plot_->legend->setVisible(false);
    legendGroups_.clear();
    if (answer_) {
        marks_ = copyMarks(*answer_);
        removeGroups(marks_, *answer_, hidden_);
        // With all groups hidden none could be shown again.
        if (marks_.empty() && !hidden_.empty()) {
            hidden_.clear();
            marks_ = copyMarks(*answer_);
        }
    }
    if (marks_.empty()) {
        showEmpty(*plot_, theme_, font(),
                  answer_ ? tr("No copies with known bytes and time in the trace or the selected range") : QString());
    } else {
        CopyPlotter plotter(*plot_, *answer_, marks_, hidden_, theme_, font());
        plotter.plot();
        legendGroups_ = plotter.legendGroups();
    }
    setAccessibleDescription(
        answer_
            ? tr("%n points or bars; the cursor keys choose one, Enter shows it on the timeline", nullptr, markCount())
            : QString());
    if (chosen_ && *chosen_ >= markCount()) chosen_.reset();
    showChosen();
}

QPoint CopyChart::markPosition(int mark) const {
    const QPointF center = centerOf(mark);
    return QPointF(plot_->xAxis->coordToPixel(center.x()), plot_->yAxis->coordToPixel(center.y())).toPoint();
}

QPointF CopyChart::centerOf(int mark) const {
    const CopyMark& at = marks_[static_cast<size_t>(mark)];
    return {kind_ == BandwidthChart::Histogram ? at.x + at.width / 2 : at.x, (at.low + at.high) / 2};
}

std::optional<int> CopyChart::markAt(QPointF position) const {
    std::optional<int> nearest;
    double minDistance = reach;
    for (int index = 0; index < markCount(); ++index) {
        const CopyMark& mark = marks_[static_cast<size_t>(index)];
        const double left = plot_->xAxis->coordToPixel(mark.x);
        const double right = plot_->xAxis->coordToPixel(mark.x + mark.width);
        const double top = plot_->yAxis->coordToPixel(mark.high);
        const double bottom = plot_->yAxis->coordToPixel(mark.low);
        const double dx = std::max({0.0, left - position.x(), position.x() - right});
        const double dy = std::max({0.0, top - position.y(), position.y() - bottom});
        const double distance = std::hypot(dx, dy);
        if (distance >= minDistance) continue;
        minDistance = distance;
        nearest = index;
    }
    return nearest;
}

void CopyChart::choose(std::optional<int> mark) {
    if (mark == chosen_) return;
    chosen_ = mark;
    showChosen();
    emit described(chosen_ ? markText(*answer_, marks_[static_cast<size_t>(*chosen_)]) : QString());
}

void CopyChart::showChosen() {
    if (!ring_) {
        ring_ = plot_->addGraph();
        ring_->removeFromLegend();
        ring_->setLayer(QStringLiteral("overlay"));
        ring_->setLineStyle(QCPGraph::lsNone);
        ring_->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme_.text, 2), Qt::NoBrush, pointSize + 7));
    }
    QVector<double> keys, values;
    if (chosen_) {
        const QPointF center = centerOf(*chosen_);
        keys << center.x();
        values << center.y();
    }
    ring_->setData(keys, values, true);
    plot_->layer(QStringLiteral("overlay"))->replot();
}

int64_t CopyChart::timeAt(double pixel) const {
    const double offset =
        std::clamp(plot_->xAxis->pixelToCoord(pixel), 0.0, static_cast<double>(answer_->shown.durationNs()));
    return answer_->shown.startNs + static_cast<int64_t>(offset);
}

void CopyChart::press(const QMouseEvent& event) {
    setFocus(Qt::MouseFocusReason);
    if (event.button() == Qt::LeftButton && answer_) pressedAt_ = event.pos();
}

void CopyChart::move(const QMouseEvent& event) {
    if (!answer_ || marks_.empty()) return;
    if (!pressedAt_) return choose(markAt(event.position()));
    if (kind_ != BandwidthChart::OverTime) return;
    isDragging_ = isDragging_ || std::abs(event.pos().x() - pressedAt_->x()) >= dragDistance;
    if (!isDragging_) return;
    if (!band_) {
        band_ = new QCPItemRect(plot_);
        band_->setLayer(QStringLiteral("overlay"));
        band_->setBrush(theme_.selection);
        band_->setPen(QPen(theme_.accent, 1));
        for (QCPItemPosition* corner : {band_->topLeft, band_->bottomRight})
            corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    const auto key = [&](int x) { return static_cast<double>(timeAt(x) - answer_->shown.startNs); };
    band_->topLeft->setCoords(key(pressedAt_->x()), 0);
    band_->bottomRight->setCoords(key(event.pos().x()), 1);
    const auto [from, to] = std::minmax({timeAt(pressedAt_->x()), timeAt(event.pos().x())});
    emit described(tr("Selects %1 from %2").arg(shortDuration(to - from), formatTime(from)));
    plot_->layer(QStringLiteral("overlay"))->replot();
}

void CopyChart::release(const QMouseEvent& event) {
    const std::optional<QPoint> from = std::exchange(pressedAt_, std::nullopt);
    const bool wasDragging = std::exchange(isDragging_, false);
    if (!from || !answer_) return;
    if (wasDragging) {
        if (band_) plot_->removeItem(std::exchange(band_, nullptr));
        const auto [start, end] = std::minmax({timeAt(from->x()), timeAt(event.pos().x())});
        plot_->layer(QStringLiteral("overlay"))->replot();
        emit described({});
        if (end > start) emit rangeSelected({start, end});
        return;
    }
    for (size_t entry = 0; entry < legendGroups_.size(); ++entry) {
        if (!legendPlace(entry).contains(event.pos())) continue;
        const CopyGroup group = legendGroups_[entry];
        isFilteredByUser_ = true;
        if (hidden_.erase(group) == 0) hidden_.insert(group);
        chosen_.reset();
        return rebuild();
    }
    if (const auto mark = markAt(event.position())) {
        choose(mark);
        emit copyActivated(copyOf(*mark).event);
    }
}

bool CopyChart::plotEvent(QEvent* event) {
    switch (event->type()) {
        case QEvent::MouseButtonPress: press(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseMove: move(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseButtonRelease: release(*static_cast<QMouseEvent*>(event)); return true;
        case QEvent::MouseButtonDblClick: return true;
        case QEvent::Leave:
            if (!hasFocus()) choose(std::nullopt);
            return false;
        default: return false;
    }
}

void CopyChart::keyPressEvent(QKeyEvent* event) {
    if (marks_.empty()) return QWidget::keyPressEvent(event);
    const int last = markCount() - 1;
    switch (event->key()) {
        case Qt::Key_Left: return choose(chosen_ ? std::max(0, *chosen_ - 1) : last);
        case Qt::Key_Right: return choose(chosen_ ? std::min(last, *chosen_ + 1) : 0);
        case Qt::Key_Home: return choose(0);
        case Qt::Key_End: return choose(last);
        case Qt::Key_Escape:
            if (!chosen_) break;
            return choose(std::nullopt);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!chosen_) break;
            emit copyActivated(copyOf(*chosen_).event);
            return;
        default: break;
    }
    QWidget::keyPressEvent(event);
}

void CopyChart::resizeEvent(QResizeEvent* event) {
    PlotWidget::resizeEvent(event);
    emit gridChanged();
}

void CopyChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) rebuild();
}

}  // namespace lanescope::views
