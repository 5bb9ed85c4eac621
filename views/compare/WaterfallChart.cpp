// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/WaterfallChart.h"

#include <qcustomplot.h>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "views/text/shownText.h"
#include "views/theme/texts.h"

namespace lanescope::views {

using namespace analysis;
using namespace compare;

namespace {

constexpr double barWidth = 0.4;

/// Splits the text into two lines so that columns are narrow.
QString inLines(QString text) {
    const qsizetype middle = text.size() / 2;
    qsizetype best = -1;
    for (qsizetype at = text.indexOf(QLatin1Char(' ')); at >= 0; at = text.indexOf(QLatin1Char(' '), at + 1))
        if (best < 0 || std::abs(at - middle) < std::abs(best - middle)) best = at;
    if (best >= 0) text[best] = QLatin1Char('\n');
    return text;
}

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

void StepChart::draw() {
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
}

void StepChart::setUpAxes() {
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

WaterfallChart::WaterfallChart(QWidget* parent) : PlotWidget(parent) {
    setAccessibleName(tr("Parts of the step: from the baseline to the candidate"));
    rebuild();
}

void WaterfallChart::setPair(const WorkerComparison* pair) {
    pair_.reset();
    if (pair) {
        // Contributors are not drawn: too many.
        pair_.emplace();
        pair_->scale = pair->scale;
        pair_->baseline = pair->baseline;
        pair_->candidate = pair->candidate;
        pair_->parts = pair->parts;
    }
    rebuild();
}

/// Uses as many bars as have room for their names and numbers.
void WaterfallChart::chooseBars() {
    bars_.reset();
    if (!pair_) return;
    constexpr int aroundAxis = 80, betweenTexts = 10;
    const QFontMetrics ofRuns(strong(font())), ofBars(font());
    // With no separate parts, all parts share one bar.
    for (int maxBars = 7; maxBars >= 0; --maxBars) {
        bars_ = waterfallBars(*pair_, static_cast<size_t>(maxBars));
        int widest = 0;
        const auto measure = [&widest](const QFontMetrics& metrics, const QString& text) {
            for (const QString& line : text.split(QLatin1Char('\n')))
                widest = std::max(widest, metrics.horizontalAdvance(line));
        };
        for (const int64_t ns : {bars_->baselineNs, bars_->candidateNs}) measure(ofRuns, shortDuration(ns));
        for (const WaterfallBars::Bar& bar : bars_->bars) {
            measure(ofBars, inLines(toQString(bar.label)));
            measure(ofBars, signedDuration(bar.lostNs()));
        }
        const int room = (width() - aroundAxis) / static_cast<int>(columnCount());
        if (widest + betweenTexts <= room) break;
    }
}

void WaterfallChart::setChosen(std::optional<StepPart> part) {
    if (part == chosen_) return;
    chosen_ = part;
    rebuild();
}

std::vector<StepPart> WaterfallChart::parts() const {
    std::vector<StepPart> parts;
    if (!bars_) return parts;
    for (const WaterfallBars::Bar& bar : bars_->bars)
        if (bar.part) parts.push_back(*bar.part);
    return parts;
}

void WaterfallChart::draw() {
    chooseBars();
    setUpAxes();
    if (bars_) {
        addRun(0, bars_->baselineNs, theme_.baseline);
        for (size_t bar = 0; bar < bars_->bars.size(); ++bar) addBar(bar + 1, bars_->bars[bar]);
        addRun(columnCount() - 1, bars_->candidateNs, theme_.candidate);
    } else {
        showEmpty(*plot_, theme_, font(), tr("No steps to compare"));
    }
    setAccessibleDescription(description());
}

void WaterfallChart::setUpAxes() {
    const double minNs = bars_ ? double(bars_->lowestNs()) : 0;
    const double maxNs = bars_ ? std::max(1.0, double(bars_->highestNs())) : 1;
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    if (bars_) {
        names->addTick(0, tr("baseline"));
        for (size_t bar = 0; bar < bars_->bars.size(); ++bar)
            names->addTick(double(bar + 1), inLines(toQString(bars_->bars[bar].label)));
        names->addTick(double(columnCount() - 1), tr("candidate"));
    }
    const ChartUnit unit = chartUnit(maxNs);
    nsPerUnit_ = unit.nsPerUnit;
    // The changes matter, so the axis begins slightly below the lowest level. The columns of the
    // runs are then visibly truncated, and the axis shows where it begins.
    const double span = std::max(maxNs - minNs, maxNs * 0.02);
    const double bottom = std::max(0.0, minNs - span * 0.6);
    plot_->xAxis->setTicker(names);
    plot_->xAxis->setRange(-0.6, std::max<double>(1, double(columnCount())) - 0.4);
    // Room over the highest column for its number, for every chart height.
    const int labelHeight = fontMetrics().height() + 6;
    const double inner = std::max(40, height() - 3 * fontMetrics().height() - 16);
    const double top = bottom + (maxNs - bottom) * inner / std::max(10.0, inner - labelHeight);
    plot_->yAxis->setRange(bottom / nsPerUnit_, top / nsPerUnit_);
    plot_->yAxis->setNumberFormat(QStringLiteral("gbc"));
    plot_->yAxis->ticker()->setTickCount(4);
    plot_->yAxis->setLabel(axisTitle(unit.name, inner));
}

QString WaterfallChart::axisTitle(const char* unit, double maxLinePx) const {
    const QString what = tr("%1 per step").arg(QString::fromUtf8(unit));
    if (!isTruncated()) return what;
    // Written vertically, so that the height limits it; the mark across the columns shows the truncation too.
    const QString cut = tr("cut at %1").arg(beginText());
    return QFontMetrics(plot_->yAxis->labelFont()).horizontalAdvance(cut) > maxLinePx ? what
                                                                                      : what + QLatin1Char('\n') + cut;
}

void WaterfallChart::addRun(size_t column, int64_t ns, const QColor& color) {
    addRectangle(column, plot_->yAxis->range().lower * nsPerUnit_, double(ns), color, false, true, shortDuration(ns));
    if (isTruncated()) addTruncationMark(column);
}

bool WaterfallChart::isTruncated() const { return plot_->yAxis->range().lower > 0; }

QString WaterfallChart::beginText() const {
    return shortDuration(std::llround(plot_->yAxis->range().lower * nsPerUnit_));
}

void WaterfallChart::addTruncationMark(size_t column) {
    const QCPRange shown = plot_->yAxis->range();
    for (const double share : {0.06, 0.1}) {
        auto* line = new QCPItemLine(plot_);
        line->start->setCoords(double(column) - 0.4, shown.lower + (share - 0.02) * shown.size());
        line->end->setCoords(double(column) + 0.4, shown.lower + (share + 0.02) * shown.size());
        line->setPen(QPen(theme_.canvas, 3));
    }
}

void WaterfallChart::addBar(size_t column, const WaterfallBars::Bar& bar) {
    const bool isChosen = bar.part && bar.part == chosen_;
    addRectangle(column, double(std::min(bar.fromNs, bar.toNs)), double(std::max(bar.fromNs, bar.toNs)),
                 bar.lostNs() > 0 ? theme_.slower : theme_.faster, isChosen, isChosen, signedDuration(bar.lostNs()));
    addInterval(column, bar);
}

void WaterfallChart::addInterval(size_t column, const WaterfallBars::Bar& bar) {
    for (const QuantityClaim& claim : pair_->quantities) {
        if (claim.kind != QuantityKind::Part || !bar.part || claim.part != *bar.part) continue;
        auto* line = new QCPItemLine(plot_);
        line->start->setCoords(double(column), (double(bar.fromNs) + claim.lowNs) / nsPerUnit_);
        line->end->setCoords(double(column), (double(bar.fromNs) + claim.highNs) / nsPerUnit_);
        line->setHead(QCPLineEnding(QCPLineEnding::esBar, 7));
        line->setTail(QCPLineEnding(QCPLineEnding::esBar, 7));
        line->setPen(QPen(theme_.text, 1.4, claim.isCertain ? Qt::SolidLine : Qt::DotLine));
    }
}

void WaterfallChart::addRectangle(size_t column, double bottomNs, double topNs, const QColor& color, bool isChosen,
                                  bool isBold, const QString& text) {
    auto* rectangle = new QCPItemRect(plot_);
    rectangle->topLeft->setCoords(double(column) - 0.33, topNs / nsPerUnit_);
    rectangle->bottomRight->setCoords(double(column) + 0.33, bottomNs / nsPerUnit_);
    rectangle->setBrush(color);
    // A border in the bar's colour, so that the smallest change is still a line.
    rectangle->setPen(isChosen ? QPen(theme_.text, 2) : QPen(color, 1));
    if (column + 1 < columnCount()) {
        auto* level = new QCPItemLine(plot_);
        const int64_t levelNs = column == 0 ? bars_->baselineNs : bars_->bars[column - 1].toNs;
        level->start->setCoords(double(column) + 0.33, double(levelNs) / nsPerUnit_);
        level->end->setCoords(double(column) + 0.67, double(levelNs) / nsPerUnit_);
        level->setPen(QPen(theme_.mutedText, 1, Qt::DotLine));
    }
    auto* value = new QCPItemText(plot_);
    value->position->setCoords(double(column), topNs / nsPerUnit_);
    value->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    value->setPadding({0, 0, 0, 2});
    value->setFont(isBold ? strong(font()) : font());
    value->setColor(theme_.text);
    value->setText(text);
}

QString WaterfallChart::description() const {
    if (!bars_) return {};
    QStringList texts{tr("baseline: %1").arg(shortDuration(bars_->baselineNs))};
    for (const WaterfallBars::Bar& bar : bars_->bars)
        texts << toQString(bar.label) + QLatin1String(": ") + signedDuration(bar.lostNs());
    texts << tr("candidate: %1").arg(shortDuration(bars_->candidateNs));
    if (isTruncated()) texts << tr("the axis begins at %1").arg(beginText());
    return texts.join(QStringLiteral("; "));
}

std::optional<StepPart> WaterfallChart::partAt(QPoint position) const {
    if (!bars_ || position.y() < plot_->axisRect()->top()) return std::nullopt;
    const double key = plot_->xAxis->pixelToCoord(position.x());
    const auto bar = static_cast<int64_t>(std::floor(key + 0.5)) - 1;
    if (bar < 0 || bar >= std::ssize(bars_->bars)) return std::nullopt;
    return bars_->bars[size_t(bar)].part;
}

void WaterfallChart::choose(std::optional<StepPart> part) {
    if (part == chosen_) part.reset();
    setChosen(part);
    emit partChosen(part);
}

bool WaterfallChart::plotEvent(QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        if (const auto part = partAt(static_cast<QMouseEvent*>(event)->pos())) choose(part);
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const auto chosen = partAt(help->pos())) {
            const PartDifference& part = pair_->parts[static_cast<size_t>(*chosen)];
            QToolTip::showText(help->globalPos(),
                               plainToolTip(tr("%1: %2 against %3 per step. Click to see its contributors.")
                                                .arg(toQString(name(part.part)), shortDuration(part.candidateNs),
                                                     shortDuration(part.baselineNs))),
                               plot_);
        }
        return true;
    }
    return false;
}

void WaterfallChart::keyPressEvent(QKeyEvent* event) {
    const std::vector<StepPart> all = parts();
    const bool isMove = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
    if (event->key() == Qt::Key_Escape && chosen_) return choose(chosen_);
    if (!isMove || all.empty()) return QWidget::keyPressEvent(event);
    const int step = event->key() == Qt::Key_Right ? 1 : -1;
    const auto at = chosen_ ? std::find(all.begin(), all.end(), *chosen_) : all.end();
    int64_t next = step > 0 ? 0 : std::ssize(all) - 1;
    if (at != all.end()) next = std::clamp<int64_t>(at - all.begin() + step, 0, std::ssize(all) - 1);
    if (chosen_ != all[size_t(next)]) choose(all[size_t(next)]);
}

}  // namespace lanescope::views
