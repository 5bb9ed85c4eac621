// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/WaterfallChart.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <cmath>
#include <cstdlib>

#include "views/text/shownText.h"
#include "views/theme/texts.h"

namespace lanescope::views {

using namespace analysis;
using namespace compare;

namespace {

/// Splits the text into two lines so that columns are narrow.
QString inLines(QString text) {
    const qsizetype middle = text.size() / 2;
    qsizetype best = -1;
    for (qsizetype at = text.indexOf(QLatin1Char(' ')); at >= 0; at = text.indexOf(QLatin1Char(' '), at + 1)) {
        if (best < 0 || std::abs(at - middle) < std::abs(best - middle)) best = at;
    }
    if (best >= 0) text[best] = QLatin1Char('\n');
    return text;
}

}  // namespace

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

void WaterfallChart::rebuild() {
    plot_->clearPlottables();
    plot_->clearItems();
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
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void WaterfallChart::setUpAxes() {
    styleChart(*plot_, theme_, font());
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
