#include "views/summary/BandwidthChart.h"

#include <qcustomplot.h>

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "views/text/toQString.h"

namespace lanescope {
namespace {

constexpr double logarithmicFrom = 30;

SliceCategory categoryOf(MemcpyKind kind) {
    switch (kind) {
        case MemcpyKind::HtoD:
            return SliceCategory::MemcpyHtoD;
        case MemcpyKind::DtoH:
            return SliceCategory::MemcpyDtoH;
        case MemcpyKind::DtoD:
            return SliceCategory::MemcpyDtoD;
        case MemcpyKind::PtoP:
            return SliceCategory::MemcpyPtoP;
        default:
            return SliceCategory::MemcpyOther;
    }
}

QString labelOf(const BandwidthRow& row) {
    return toQString(name(row.kind)) + QLatin1Char('\n') + toQString(name(row.sourceMemory)) +
           QStringLiteral(" →\n") + toQString(name(row.destinationMemory));
}

bool isSameKind(const BandwidthRow& a, const BandwidthRow& b) {
    return a.kind == b.kind && a.sourceMemory == b.sourceMemory &&
           a.destinationMemory == b.destinationMemory;
}

}  // namespace

BandwidthChart::BandwidthChart(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setMinimumSize(220, 120);
    rebuild();
}

void BandwidthChart::setRows(std::vector<BandwidthRow> whole, std::vector<BandwidthRow> selected) {
    whole_ = std::move(whole);
    selected_ = std::move(selected);
    rebuild();
}

void BandwidthChart::setTheme(const Theme& theme) {
    theme_ = theme;
    rebuild();
}

double BandwidthChart::keyOf(const BandwidthRow& row) const {
    const auto at = std::find_if(whole_.begin(), whole_.end(),
                                 [&](const BandwidthRow& other) { return isSameKind(row, other); });
    return double(at - whole_.begin()) + 1;
}

void BandwidthChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    setUpAxes();
    if (selected_.empty()) {
        addBars(whole_, 0, 0.5, 1);
    } else {
        addBars(whole_, -0.2, 0.36, 0.4);
        addBars(selected_, 0.2, 0.36, 1);
    }
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void BandwidthChart::addBars(const std::vector<BandwidthRow>& rows, double offset, double width,
                             double opacity) {
    for (const BandwidthRow& row : rows) {
        const double mean = row.meanGBps();
        if (mean <= 0) continue;
        const double key = keyOf(row) + offset;
        auto* bar = new QCPBars(plot_->xAxis, plot_->yAxis);
        bar->setWidth(width);
        bar->setPen(Qt::NoPen);
        bar->setBrush(Theme::mix(theme_.canvas, theme_.colorOf(categoryOf(row.kind)), opacity));
        bar->addData(key, mean);
        auto* whisker = new QCPErrorBars(plot_->xAxis, plot_->yAxis);
        whisker->setDataPlottable(bar);
        whisker->setPen(QPen(theme_.text, 1.2));
        whisker->setWhiskerWidth(8);
        whisker->setSymbolGap(0);
        whisker->addData(std::max(0.0, mean - row.minimumGBps),
                         std::max(0.0, row.maximumGBps - mean));
        addValue(key, mean, row.maximumGBps);
    }
}

void BandwidthChart::addValue(double key, double mean, double top) {
    auto* value = new QCPItemText(plot_);
    value->position->setCoords(key, std::max(mean, top));
    value->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    value->setPadding({0, 0, 0, 4});
    value->setFont(font());
    value->setColor(theme_.text);
    value->setText(QString::number(mean, 'g', mean < 0.1 ? 1 : 3));
}

void BandwidthChart::setUpAxes() {
    double least = 0;
    double greatest = 0;
    for (const BandwidthRow& row : whole_) {
        if (row.meanGBps() <= 0) continue;
        least = least == 0 ? row.meanGBps() : std::min(least, row.meanGBps());
        greatest = std::max({greatest, row.meanGBps(), row.maximumGBps});
    }

    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (const BandwidthRow& row : whole_) {
        names->addTick(keyOf(row), labelOf(row));
    }
    plot_->xAxis->setTicker(names);
    plot_->xAxis->setRange(0.4, std::max<double>(1, double(whole_.size())) + 0.6);

    const bool isLogarithmic = least > 0 && greatest / least > logarithmicFrom;
    plot_->yAxis->setScaleType(isLogarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (isLogarithmic) {
        plot_->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
        const double bottom = std::pow(10, std::floor(std::log10(least) - 0.3));
        // Room for the numbers over the bars, whatever the height of the chart.
        plot_->yAxis->setRange(bottom, greatest * std::pow(greatest / bottom, 0.16));
    } else {
        plot_->yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
        plot_->yAxis->setRange(0, greatest > 0 ? greatest * 1.2 : 1);
    }
    plot_->yAxis->setNumberFormat(QStringLiteral("g"));
    plot_->yAxis->setNumberPrecision(6);  // bytes move at less than a petabyte a second
    plot_->yAxis->setLabel(tr("GB/s"));

    // The upper axis carries nothing but the legend, which so never lies on a bar.
    plot_->xAxis2->setVisible(true);
    plot_->xAxis2->setTicks(false);
    plot_->xAxis2->setTickLabels(false);
    plot_->xAxis2->setBasePen(Qt::NoPen);
    plot_->xAxis2->setLabelFont(font());
    plot_->xAxis2->setLabelColor(theme_.mutedText);
    plot_->xAxis2->setLabel(selected_.empty()
                                ? tr("mean, from the slowest to the fastest copy")
                                : tr("light: whole trace \u00b7 dark: selected range"));

    plot_->setBackground(theme_.canvas);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->setBasePen(QPen(theme_.separator));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme_.mutedText);
        axis->setLabelColor(theme_.mutedText);
        axis->setTickLabelFont(font());
        axis->setLabelFont(font());
        axis->grid()->setPen(QPen(theme_.grid));
        axis->grid()->setZeroLinePen(QPen(theme_.grid));
    }
    plot_->xAxis->grid()->setVisible(false);
}

}  // namespace lanescope
