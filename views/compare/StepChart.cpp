// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/StepChart.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <cmath>
#include <utility>

#include "views/text/shownText.h"

namespace lanescope::views {

using namespace analysis;
using namespace compare;

namespace {

constexpr double barWidth = 0.4;

}  // namespace

StepChart::StepChart(QWidget* parent) : PlotWidget(parent) {
    setAccessibleName(tr("Time of each step in both runs"));
    rebuild();
}

void StepChart::setSteps(const StepBarsOf& baseline, const StepBarsOf& candidate) {
    bars_ = stepBars(std::vector{baseline, candidate});
    if (chosen_ >= stepCount()) chosen_ = -1;
    rebuild();
}

void StepChart::setChosen(int step) {
    if (step == chosen_) return;
    chosen_ = step;
    rebuild();
}

void StepChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
    setUpAxes();
    markChosen();
    addLegend();
    if (stepCount() == 0) {
        showEmpty(*plot_, theme_, font(), tr("No steps to compare"));
        setAccessibleDescription(tr("No steps"));
    } else {
        addSide(bars_.runs.front(), -barWidth / 2, theme_.baseline);
        addSide(bars_.runs.back(), barWidth / 2, theme_.candidate);
        setAccessibleDescription(tr("Medians: %1 in the baseline, %2 in the candidate")
                                     .arg(shortDuration(std::llround(bars_.runs.front().steps.medianNs)),
                                          shortDuration(std::llround(bars_.runs.back().steps.medianNs))));
    }
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void StepChart::setUpAxes() {
    styleChart(*plot_, theme_, font());
    double maxNs = 1;
    for (const StepBars::Run& run : bars_.runs)
        for (const StepBars::Bar& bar : run.bars) maxNs = std::max(maxNs, double(bar.longestNs));
    for (const StepBars::Run& run : bars_.runs) maxNs = std::max(maxNs, run.band.highestNs);
    const ChartUnit unit = chartUnit(maxNs);
    nsPerUnit_ = unit.nsPerUnit;
    const int count = stepCount();
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    const int every = std::max(1, (count + 15) / 16);
    // The candidate's numbers, unless the baseline has more steps.
    for (const StepBars::Run& run : bars_.runs)
        for (int index = 0; int(run.stepCount()) == count && index < count; index += every)
            names->addTick(index, QString::number(run.numbers[size_t(index)]));
    plot_->xAxis->setTicker(names);
    plot_->xAxis->setRange(-0.6, std::max(1, count) - 0.4);
    plot_->xAxis->setLabel(tr("step"));
    plot_->xAxis->setLabelPadding(0);
    // Room for the marks, and for the legend over them.
    const int legendHeight = 2 * fontMetrics().height() + 4;
    const double inner = std::max(40, height() - 3 * fontMetrics().height() - 8);
    plot_->yAxis->setRange(0, maxNs * inner / std::max(10.0, inner - legendHeight) / nsPerUnit_);
    plot_->yAxis->setNumberFormat(QStringLiteral("gbc"));
    plot_->yAxis->ticker()->setTickCount(4);
    plot_->yAxis->setLabel(QString::fromUtf8(unit.name));
}

void StepChart::addSide(const StepBars::Run& run, double offset, const QColor& color) {
    if (run.bars.empty()) return;
    auto* bars = new QCPBars(plot_->xAxis, plot_->yAxis);
    // A bar of several steps is as high as the longest of them.
    const auto perBar = double(bars_.stepsPerBar);
    bars->setWidth(barWidth * perBar);
    bars->setPen(Qt::NoPen);
    bars->setBrush(Theme::mix(theme_.canvas, color, 0.75));
    for (const StepBars::Bar& bar : run.bars)
        bars->addData(double(bar.first) + (perBar - 1) / 2 + offset * perBar, double(bar.longestNs) / nsPerUnit_);
    markOutliers(run, offset);
    // The spread of the medians of this side's runs.
    if (run.band.runs > 1) {
        auto* band = new QCPItemRect(plot_);
        const QCPRange shown = plot_->xAxis->range();
        band->topLeft->setCoords(shown.lower, run.band.highestNs / nsPerUnit_);
        band->bottomRight->setCoords(shown.upper, run.band.lowestNs / nsPerUnit_);
        QColor back = color;
        back.setAlphaF(0.22F);
        band->setBrush(back);
        band->setPen(QPen(color, 1, Qt::DotLine));
    }
    auto* line = new QCPItemLine(plot_);
    line->start->setCoords(plot_->xAxis->range().lower, run.steps.medianNs / nsPerUnit_);
    line->end->setCoords(plot_->xAxis->range().upper, run.steps.medianNs / nsPerUnit_);
    line->setPen(QPen(Theme::mix(color, theme_.text, 0.3), 1.4, Qt::DashLine));
}

/// Returns the longest text of which two fit side by side; tool tips and the description have the full text.
QString StepChart::legendOf(const QString& side, const StepBars::Run& run, int detail) const {
    const QString median = shortDuration(std::llround(run.steps.medianNs));
    if (detail == 0) return median;
    if (detail == 1) return side + QLatin1Char(' ') + median;
    const QString text = tr("%1, median %2").arg(side, median);
    if (detail == 2 || run.band.runs < 2) return text;
    return text +
           tr(" (%1 runs: %2 to %3)")
               .arg(run.band.runs)
               .arg(shortDuration(std::llround(run.band.lowestNs)), shortDuration(std::llround(run.band.highestNs)));
}

void StepChart::addLegend() {
    if (stepCount() == 0) return;
    constexpr int padding = 6, aroundAxis = 90;
    const auto textsOf = [this](int detail) {
        return std::pair(legendOf(tr("baseline"), bars_.runs.front(), detail),
                         legendOf(tr("candidate"), bars_.runs.back(), detail));
    };
    std::pair<QString, QString> texts;
    for (int detail = 3; detail >= 0; --detail) {
        texts = textsOf(detail);
        if (fontMetrics().horizontalAdvance(texts.first + texts.second) + 5 * padding <= width() - aroundAxis) break;
    }
    const auto add = [this](double place, const QString& said, const QColor& color) {
        auto* text = new QCPItemText(plot_);
        text->position->setType(QCPItemPosition::ptAxisRectRatio);
        text->position->setCoords(place, 0);
        text->setPositionAlignment((place > 0.5 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
        text->setText(said);
        text->setColor(theme_.text);
        text->setFont(font());
        text->setPadding({padding, 0, padding, 1});
        text->setBrush(Theme::mix(theme_.canvas, color, 0.22));
    };
    add(0, texts.first, theme_.baseline);
    add(1, texts.second, theme_.candidate);
}

void StepChart::markOutliers(const StepBars::Run& run, double offset) {
    for (const StepBars::Mark& each : run.marks) {
        auto* mark = new QCPItemText(plot_);
        mark->position->setCoords(double(each.step) + offset, double(each.outlier.wallNs) / nsPerUnit_);
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
    const auto add = [&](const StepBars::Run& run, const QString& side) {
        if (size_t(step) >= run.stepCount()) return;
        QString line =
            tr("%1, step %2: %3").arg(side).arg(run.numbers[size_t(step)]).arg(shortDuration(run.wallNs[size_t(step)]));
        for (const StepBars::Mark& mark : run.marks)
            if (mark.step == size_t(step))
                line += tr(" (%1 more than the median, most of it %2)")
                            .arg(shortDuration(mark.outlier.excessNs), toQString(name(mark.outlier.part)));
        lines << line;
    };
    add(bars_.runs.front(), tr("Baseline"));
    add(bars_.runs.back(), tr("Candidate"));
    return lines.join(QLatin1Char('\n'));
}

bool StepChart::plotEvent(QEvent* event) {
    const auto stepAt = [this](QPoint position) { return int(std::lround(plot_->xAxis->pixelToCoord(position.x()))); };
    if (event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        const int step = stepAt(static_cast<QMouseEvent*>(event)->pos());
        if (step >= 0 && step < stepCount()) emit stepChosen(step);
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int step = stepAt(help->pos());
        if (step >= 0 && step < stepCount()) QToolTip::showText(help->globalPos(), plainToolTip(tipAt(step)), plot_);
        return true;
    }
    return false;
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

}  // namespace lanescope::views
