#include "views/compare/StepChart.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "model/values/formatTable.h"
#include "views/theme/chartStyle.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

constexpr double barWidth = 0.4;
constexpr size_t mostBars = 1000;  // of one side

std::optional<WorkerSummary> stepsOf(const WorkerSummary* worker) {
    if (!worker) return std::nullopt;
    WorkerSummary copy;
    copy.steps = worker->steps;
    copy.outliers = worker->outliers;
    return copy;
}

}  // namespace

StepChart::StepChart(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Time of each step in both runs"));
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->installEventFilter(this);
    rebuild();
}

void StepChart::setWorkers(const WorkerSummary* baseline, const WorkerSummary* candidate,
                           double baselineMedianNs, double candidateMedianNs) {
    baseline_ = stepsOf(baseline);
    candidate_ = stepsOf(candidate);
    baselineMedianNs_ = baselineMedianNs;
    candidateMedianNs_ = candidateMedianNs;
    if (chosen_ >= stepCount()) chosen_ = -1;
    rebuild();
}

void StepChart::setTheme(const Theme& theme) {
    theme_ = theme;
    rebuild();
}

void StepChart::setChosen(int step) {
    if (step == chosen_) return;
    chosen_ = step;
    rebuild();
}

int StepChart::stepCount() const {
    const size_t before = baseline_ ? baseline_->steps.size() : 0;
    const size_t after = candidate_ ? candidate_->steps.size() : 0;
    return int(std::max(before, after));
}

void StepChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    setUpAxes();
    markChosen();
    addSide(baseline_, -barWidth / 2, theme_.baseline, baselineMedianNs_);
    addSide(candidate_, barWidth / 2, theme_.candidate, candidateMedianNs_);
    addLegend();
    if (stepCount() == 0) sayEmpty(*plot_, theme_, font(), tr("No steps to compare"));
    setAccessibleDescription(
        stepCount() == 0 ? tr("No steps")
                         : tr("Medians: %1 in the baseline, %2 in the candidate")
                               .arg(toQString(formatDuration(std::llround(baselineMedianNs_))),
                                    toQString(formatDuration(std::llround(candidateMedianNs_)))));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void StepChart::setUpAxes() {
    styleChart(*plot_, theme_, font());
    double greatest = 1;
    for (const auto* side : {&baseline_, &candidate_}) {
        if (!*side) continue;
        for (const StepSummary& step : (*side)->steps)
            greatest = std::max(greatest, double(step.wallNs));
    }
    const ChartUnit unit = chartUnit(greatest);
    nsPerUnit_ = unit.nsPerUnit;
    const int count = stepCount();
    const auto& named =
        candidate_ && int(candidate_->steps.size()) == count ? candidate_ : baseline_;
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    const int every = std::max(1, (count + 15) / 16);
    for (int index = 0; named && index < count; index += every)
        names->addTick(index, QString::number(named->steps[size_t(index)].number));
    plot_->xAxis->setTicker(names);
    plot_->xAxis->setRange(-0.6, std::max(1, count) - 0.4);
    plot_->xAxis->setLabel(tr("step"));
    plot_->xAxis->setLabelPadding(0);
    // Room for the marks, and for the legend over them.
    const int legendHeight = 2 * fontMetrics().height() + 4;
    const double inner = std::max(40, height() - 3 * fontMetrics().height() - 8);
    plot_->yAxis->setRange(0, greatest * inner / std::max(10.0, inner - legendHeight) / nsPerUnit_);
    plot_->yAxis->setNumberFormat(QStringLiteral("gbc"));
    plot_->yAxis->ticker()->setTickCount(4);
    plot_->yAxis->setLabel(QLatin1String(unit.name));
}

void StepChart::addSide(const std::optional<WorkerSummary>& worker, double offset,
                        const QColor& color, double medianNs) {
    if (!worker) return;
    auto* bars = new QCPBars(plot_->xAxis, plot_->yAxis);
    // Of more steps than can be told apart, a bar is as high as the longest of several.
    const size_t count = worker->steps.size();
    const size_t perBar = std::max<size_t>(1, count / mostBars);
    bars->setWidth(barWidth * double(perBar));
    bars->setPen(Qt::NoPen);
    bars->setBrush(Theme::mix(theme_.canvas, color, 0.75));
    for (size_t first = 0; first < count; first += perBar) {
        int64_t longestNs = 0;
        for (size_t index = first; index < std::min(count, first + perBar); ++index)
            longestNs = std::max(longestNs, worker->steps[index].wallNs);
        const double middle = double(first) + double(perBar - 1) / 2;
        bars->addData(middle + offset * double(perBar), double(longestNs) / nsPerUnit_);
    }
    markOutliers(*worker, offset);
    if (worker->steps.empty()) return;
    auto* line = new QCPItemLine(plot_);
    line->start->setCoords(plot_->xAxis->range().lower, medianNs / nsPerUnit_);
    line->end->setCoords(plot_->xAxis->range().upper, medianNs / nsPerUnit_);
    line->setPen(QPen(Theme::mix(color, theme_.text, 0.3), 1.4, Qt::DashLine));
}

void StepChart::addLegend() {
    if (stepCount() == 0) return;
    const auto add = [this](double place, const QString& side, double medianNs,
                            const QColor& color) {
        auto* text = new QCPItemText(plot_);
        text->position->setType(QCPItemPosition::ptAxisRectRatio);
        text->position->setCoords(place, 0);
        text->setPositionAlignment((place > 0.5 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
        text->setText(
            tr("%1, median %2").arg(side, toQString(formatDuration(std::llround(medianNs)))));
        text->setColor(theme_.text);
        text->setFont(font());
        text->setPadding({6, 0, 6, 1});
        text->setBrush(Theme::mix(theme_.canvas, color, 0.22));
    };
    add(0, tr("baseline"), baselineMedianNs_, theme_.baseline);
    add(1, tr("candidate"), candidateMedianNs_, theme_.candidate);
}

void StepChart::markOutliers(const WorkerSummary& worker, double offset) {
    for (const OutlierStep& outlier : worker.outliers) {
        const auto at =
            std::find_if(worker.steps.begin(), worker.steps.end(),
                         [&](const StepSummary& step) { return step.startNs == outlier.startNs; });
        if (at == worker.steps.end()) continue;
        auto* mark = new QCPItemText(plot_);
        mark->position->setCoords(double(at - worker.steps.begin()) + offset,
                                  double(outlier.wallNs) / nsPerUnit_);
        mark->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
        mark->setText(QStringLiteral("\u25bc"));
        mark->setColor(theme_.slower);
        mark->setFont(font());
    }
}

void StepChart::markChosen() {
    if (chosen_ < 0 || chosen_ >= stepCount()) return;
    auto* area = new QCPItemRect(plot_);
    area->topLeft->setCoords(chosen_ - 0.5, plot_->yAxis->range().upper);
    area->bottomRight->setCoords(chosen_ + 0.5, 0);
    area->setBrush(theme_.selection);
    area->setPen(QPen(theme_.accent));
    area->setLayer(QStringLiteral("grid"));
}

QString StepChart::tipAt(int step) const {
    QStringList lines;
    const auto add = [&](const std::optional<WorkerSummary>& worker, const QString& side) {
        if (!worker || size_t(step) >= worker->steps.size()) return;
        const StepSummary& summary = worker->steps[size_t(step)];
        QString line = tr("%1, step %2: %3")
                           .arg(side)
                           .arg(summary.number)
                           .arg(toQString(formatDuration(summary.wallNs)));
        for (const OutlierStep& outlier : worker->outliers) {
            if (outlier.startNs != summary.startNs) continue;
            line += tr(" (%1 more than the median, most of it %2)")
                        .arg(toQString(formatDuration(outlier.excessNs)),
                             toQString(name(outlier.part)));
        }
        lines << line;
    };
    add(baseline_, tr("Baseline"));
    add(candidate_, tr("Candidate"));
    return lines.join(QLatin1Char('\n'));
}

bool StepChart::eventFilter(QObject* watched, QEvent* event) {
    if (watched != plot_) return QWidget::eventFilter(watched, event);
    const auto stepAt = [this](QPoint position) {
        return int(std::lround(plot_->xAxis->pixelToCoord(position.x())));
    };
    if (event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        const int step = stepAt(static_cast<QMouseEvent*>(event)->pos());
        if (step >= 0 && step < stepCount()) emit stepChosen(step);
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int step = stepAt(help->pos());
        if (step >= 0 && step < stepCount())
            QToolTip::showText(help->globalPos(), plainToolTip(tipAt(step)), plot_);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void StepChart::keyPressEvent(QKeyEvent* event) {
    const int last = stepCount() - 1;
    int next = -1;
    if (event->key() == Qt::Key_Left) next = std::max(0, chosen_ - 1);
    if (event->key() == Qt::Key_Right) next = std::min(last, chosen_ + 1);
    if (event->key() == Qt::Key_Home) next = 0;
    if (event->key() == Qt::Key_End) next = last;
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) next = chosen_;
    if (next < 0 || last < 0) return QWidget::keyPressEvent(event);
    emit stepChosen(next);
}

void StepChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuild();
}

void StepChart::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    plot_->axisRect()->setBackground(Theme::mix(theme_.canvas, theme_.accent, 0.05));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void StepChart::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    plot_->axisRect()->setBackground(QBrush(Qt::NoBrush));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace lanescope
