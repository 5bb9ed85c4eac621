#include "views/bandwidth/CopyChart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "model/export/formatValue.h"
#include "views/bandwidth/copyTexts.h"
#include "views/bandwidth/peakLines.h"
#include "views/charts/chartStyle.h"
#include "views/text/toQString.h"
#include "views/timeline/timeTicks.h"

namespace lanescope {
namespace {

constexpr double pointSize = 7;
constexpr double pixelsPerPlace = 4;  // closer points hide each other
constexpr double pixelsPerBin = 12;
constexpr double reach = 12;  // of the pointer, in pixels
constexpr int dragDistance = 5;
constexpr int legendWidthShare = 5;  // of the chart's width, at most

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

}  // namespace

CopyChart::CopyChart(BandwidthChart kind, QWidget* parent)
    : QWidget(parent), kind_(kind), plot_(new QCustomPlot(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(kind == BandwidthChart::OverTime ? tr("GB/s of the copies over time")
                      : kind == BandwidthChart::BySize ? tr("GB/s of the copies by their size")
                                                       : tr("How many copies had which GB/s"));
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setMouseTracking(true);
    plot_->installEventFilter(this);
    plot_->addLayer(QStringLiteral("marks"), plot_->layer(QStringLiteral("main")));
    plot_->layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmBuffered);
    rebuild();
}

void CopyChart::setAnswer(std::shared_ptr<const BandwidthAnswer> answer) {
    if (answer && answer->question.chart != kind_) return;
    answer_ = std::move(answer);
    chosen_.reset();
    rebuild();
}

void CopyChart::setTheme(const Theme& theme) {
    theme_ = theme;
    rebuild();
}

CopyGrid CopyChart::grid() const {
    CopyGrid grid;
    grid.across = kind_ == BandwidthChart::BySize ? CopyAxis::Size : CopyAxis::Time;
    grid.columns = std::max(20, static_cast<int>(width() / pixelsPerPlace));
    grid.rows = std::max(10, static_cast<int>(height() / pixelsPerPlace));
    return grid;
}

int CopyChart::binCount() const {
    return std::clamp(static_cast<int>(width() / pixelsPerBin), 10, 60);
}

const std::vector<CopyGroup>& CopyChart::groups() const {
    return kind_ == BandwidthChart::Histogram ? answer_->histogram.groups : answer_->cells.groups;
}

void CopyChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    marks_.clear();
    ring_ = nullptr;
    band_ = nullptr;
    styleChart(*plot_, theme_, font());
    plot_->legend->setVisible(false);
    if (answer_) kind_ == BandwidthChart::Histogram ? addBarMarks() : addPointMarks();
    if (marks_.empty()) {
        sayEmpty(*plot_, theme_, font(),
                 answer_ ? tr("No copy with bytes and time lies here") : QString());
    } else if (kind_ == BandwidthChart::Histogram) {
        addBars();
    } else {
        addPoints();
    }
    setAccessibleDescription(
        answer_ ? tr("%n points or bars; the arrow keys choose one, Enter shows it on the timeline",
                     nullptr, markCount())
                : QString());
    if (chosen_ && *chosen_ >= markCount()) chosen_.reset();
    showChosen();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void CopyChart::addPointMarks() {
    const CopyCells& cells = answer_->cells;
    const bool isTime = kind_ == BandwidthChart::OverTime;
    for (const CopyCell& cell : cells.cells) {
        Mark mark;
        mark.largest = cell.largest;
        mark.count = cell.count;
        mark.bytes = cell.largest.bytes;
        mark.low = mark.high = cell.largest.gigabytesPerSecond;
        const auto startNs = std::max(cell.largest.startNs, answer_->shown.startNs);
        mark.x = isTime ? static_cast<double>(startNs - answer_->shown.startNs)
                        : static_cast<double>(cell.largest.bytes);
        if (isTime) mark.width = static_cast<double>(cell.largest.endNs - startNs);
        marks_.push_back(mark);
    }
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const Mark& a, const Mark& b) { return a.x < b.x; });
    if (marks_.empty()) return;
    isTime ? setUpTimeAxis() : setUpSizeAxis();
    setUpRateAxis(*plot_->yAxis, cells.rates.leastGBps, cells.rates.mostGBps,
                  kind_ == BandwidthChart::BySize || cells.rates.isLogarithmic(), answer_->peaks);
}

void CopyChart::addBarMarks() {
    const RateHistogram& histogram = answer_->histogram;
    double stackedTo = 0, most = 1;
    int lastBin = -1;
    for (const RateBin& bin : histogram.bins) {
        if (bin.bin != lastBin) stackedTo = 0;
        lastBin = bin.bin;
        Mark mark;
        mark.largest = bin.largest;
        mark.count = bin.count;
        mark.bytes = bin.bytes;
        mark.x = histogram.binStart(bin.bin);
        mark.width = histogram.binStart(bin.bin + 1) - mark.x;
        mark.low = stackedTo;
        mark.high = stackedTo += static_cast<double>(bin.count);
        most = std::max(most, stackedTo);
        marks_.push_back(mark);
    }
    if (marks_.empty()) return;
    setUpRateAxis(*plot_->xAxis, histogram.rates.leastGBps, histogram.rates.mostGBps,
                  histogram.rates.isLogarithmic(), answer_->peaks);
    plot_->yAxis->setScaleType(QCPAxis::stLinear);
    plot_->yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    plot_->yAxis->setNumberFormat(QStringLiteral("f"));
    plot_->yAxis->setNumberPrecision(most < 5 ? 1 : 0);
    plot_->yAxis->setRange(0, most * 1.2);
    plot_->yAxis->setLabel(tr("copies"));
}

void CopyChart::setUpTimeAxis() {
    const TimeRange& shown = answer_->shown;
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const TimeTicks ticks = timeTicks(shown, std::max(200, plot_->axisRect()->width()),
                                      9.0 * fontMetrics().averageCharWidth() + 24);
    for (const TimeTick& tick : ticks.ticks)
        if (tick.isMajor && tick.timeNs >= shown.startNs && tick.timeNs <= shown.endNs)
            ticker->addTick(static_cast<double>(tick.timeNs - shown.startNs), tick.label);
    plot_->xAxis->setScaleType(QCPAxis::stLinear);
    plot_->xAxis->setTicker(ticker);
    plot_->xAxis->setRange(0, std::max<double>(1, static_cast<double>(shown.durationNs())));
    plot_->xAxis->setLabel(ticks.hasAnchor ? tr("time from %1").arg(ticks.anchorLabel) : QString());
}

void CopyChart::setUpSizeAxis() {
    const double least = static_cast<double>(std::max<int64_t>(1, answer_->cells.leastBytes));
    const double most = std::max(least * 2, static_cast<double>(answer_->cells.mostBytes));
    const double octaves = std::log2(most / least);
    const double fitting =
        std::max(2.0, plot_->axisRect()->width() / (11.0 * fontMetrics().averageCharWidth()));
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

void CopyChart::addPoints() {
    const bool isTime = kind_ == BandwidthChart::OverTime;
    const double nsPerPixel =
        plot_->xAxis->range().size() / std::max(1, plot_->axisRect()->width());
    for (size_t group = 0; group < groups().size(); ++group) {
        QVector<double> keys, values, lineKeys, lineValues;
        for (const Mark& mark : marks_) {
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
    addPeakLines(*plot_, *plot_->yAxis, answer_->peaks, theme_, font());
}

void CopyChart::addBars() {
    for (const Mark& mark : marks_) {
        auto* bar = new QCPItemRect(plot_);
        bar->topLeft->setCoords(mark.x, mark.high);
        bar->bottomRight->setCoords(mark.x + mark.width, mark.low);
        bar->setPen(QPen(theme_.canvas, 1));
        bar->setBrush(colorOf(theme_, groups()[mark.largest.group]));
    }
    // Only for the legend: bars of different widths are no QCPBars.
    std::vector<bool> isNamed(groups().size());
    for (const Mark& mark : marks_) {
        if (isNamed[mark.largest.group]) continue;
        isNamed[mark.largest.group] = true;
        QCPGraph* graph = plot_->addGraph();
        const QColor color = colorOf(theme_, groups()[mark.largest.group]);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssSquare, color, color, pointSize + 2));
        graph->setName(groupText(*answer_->trace, groups()[mark.largest.group]));
    }
    addLegend();
    addPeakLines(*plot_, *plot_->xAxis, answer_->peaks, theme_, font());
}

void CopyChart::addLegend() {
    QCPLegend* legend = plot_->legend;
    legend->setVisible(true);
    legend->setFont(font());
    legend->setTextColor(theme_.text);
    legend->setBrush(Qt::NoBrush);
    legend->setBorderPen(Qt::NoPen);
    legend->setIconSize(14, 12);
    legend->setRowSpacing(1);
    legend->setMargins({6, 6, 6, 6});
    if (plot_->plotLayout()->hasElement(0, 1)) return;
    // Beside the points and not upon them.
    plot_->plotLayout()->addElement(0, 1, legend);
    plot_->plotLayout()->setColumnStretchFactor(1, 0.001);
}

QPoint CopyChart::markPosition(int mark) const {
    const Mark& at = marks_[static_cast<size_t>(mark)];
    const bool isBar = kind_ == BandwidthChart::Histogram;
    const double x = isBar ? at.x + at.width / 2 : at.x;
    return QPointF(plot_->xAxis->coordToPixel(x),
                   plot_->yAxis->coordToPixel((at.low + at.high) / 2))
        .toPoint();
}

std::optional<int> CopyChart::markAt(QPointF position) const {
    std::optional<int> nearest;
    double least = reach;
    for (int index = 0; index < markCount(); ++index) {
        const Mark& mark = marks_[static_cast<size_t>(index)];
        const double left = plot_->xAxis->coordToPixel(mark.x);
        const double right = plot_->xAxis->coordToPixel(mark.x + mark.width);
        const double top = plot_->yAxis->coordToPixel(mark.high);
        const double bottom = plot_->yAxis->coordToPixel(mark.low);
        const double dx = std::max({0.0, left - position.x(), position.x() - right});
        const double dy = std::max({0.0, top - position.y(), position.y() - bottom});
        const double distance = std::hypot(dx, dy);
        if (distance >= least) continue;
        least = distance;
        nearest = index;
    }
    return nearest;
}

QString CopyChart::textOf(const Mark& mark) const {
    const CopyGroup& group = groups()[mark.largest.group];
    const QString copy = copyText(*answer_->trace, group, mark.largest);
    if (mark.count == 1) return copy;
    const QString count = toQString(formatCount(mark.count));
    if (kind_ == BandwidthChart::Histogram)
        return tr("%1 copies, %2, at about this rate; the largest is %3")
            .arg(count, toQString(formatBytes(mark.bytes)), copy);
    return tr("%1 copies here; the largest is %2").arg(count, copy);
}

void CopyChart::choose(std::optional<int> mark) {
    if (mark == chosen_) return;
    chosen_ = mark;
    showChosen();
    emit described(chosen_ ? textOf(marks_[static_cast<size_t>(*chosen_)]) : QString());
}

void CopyChart::showChosen() {
    if (!ring_) {
        ring_ = plot_->addGraph();
        ring_->removeFromLegend();
        ring_->setLayer(QStringLiteral("overlay"));
        ring_->setLineStyle(QCPGraph::lsNone);
        ring_->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme_.text, 2),
                                               Qt::NoBrush, pointSize + 7));
    }
    QVector<double> keys, values;
    if (chosen_) {
        const Mark& mark = marks_[static_cast<size_t>(*chosen_)];
        const bool isBar = kind_ == BandwidthChart::Histogram;
        keys << (isBar ? mark.x + mark.width / 2 : mark.x);
        values << (mark.low + mark.high) / 2;
    }
    ring_->setData(keys, values, true);
    plot_->layer(QStringLiteral("overlay"))->replot();
}

int64_t CopyChart::timeAt(double pixel) const {
    const double offset = std::clamp(plot_->xAxis->pixelToCoord(pixel), 0.0,
                                     static_cast<double>(answer_->shown.durationNs()));
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
    const auto [from, to] = std::minmax(timeAt(pressedAt_->x()), timeAt(event.pos().x()));
    emit described(
        tr("Selects %1 from %2").arg(toQString(formatDuration(to - from)), formatTime(from)));
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
    if (const auto mark = markAt(event.position())) {
        choose(mark);
        emit copyActivated(copyOf(*mark).event);
    }
}

bool CopyChart::eventFilter(QObject* watched, QEvent* event) {
    if (watched != plot_) return QWidget::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::MouseButtonPress:
            press(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseMove:
            move(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonRelease:
            release(*static_cast<QMouseEvent*>(event));
            return true;
        case QEvent::MouseButtonDblClick:
            return true;
        case QEvent::Leave:
            if (!hasFocus()) choose(std::nullopt);
            return false;
        default:
            return QWidget::eventFilter(watched, event);
    }
}

void CopyChart::keyPressEvent(QKeyEvent* event) {
    if (marks_.empty()) return QWidget::keyPressEvent(event);
    const int last = markCount() - 1;
    switch (event->key()) {
        case Qt::Key_Left:
            return choose(chosen_ ? std::max(0, *chosen_ - 1) : last);
        case Qt::Key_Right:
            return choose(chosen_ ? std::min(last, *chosen_ + 1) : 0);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(last);
        case Qt::Key_Escape:
            if (!chosen_) break;
            return choose(std::nullopt);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (!chosen_) break;
            emit copyActivated(copyOf(*chosen_).event);
            return;
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

void CopyChart::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    plot_->axisRect()->setBackground(Theme::mix(theme_.canvas, theme_.accent, 0.05));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void CopyChart::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    plot_->axisRect()->setBackground(QBrush(Qt::NoBrush));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void CopyChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuild();
    emit gridChanged();
}

void CopyChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) rebuild();
}

}  // namespace lanescope
