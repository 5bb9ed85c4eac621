#include "views/compare/WaterfallChart.h"

#include <qcustomplot.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdlib>

#include "model/values/formatTable.h"
#include "views/theme/chartStyle.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

constexpr size_t mostParts = 7;
// What is less than this share of all changes goes into one column.
constexpr double leastShare = 0.01;

/// In two lines, so that columns stand close together.
QString inLines(QString text) {
    const qsizetype middle = text.size() / 2;
    qsizetype best = -1;
    for (qsizetype at = text.indexOf(QLatin1Char(' ')); at >= 0;
         at = text.indexOf(QLatin1Char(' '), at + 1)) {
        if (best < 0 || std::abs(at - middle) < std::abs(best - middle)) best = at;
    }
    if (best >= 0) text[best] = QLatin1Char('\n');
    return text;
}

}  // namespace

WaterfallChart::WaterfallChart(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Parts of the step: from the baseline to the candidate"));
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->installEventFilter(this);
    rebuild();
}

void WaterfallChart::setPair(const WorkerComparison* pair) {
    pair_.reset();
    if (pair) pair_ = *pair;
    rebuild();
}

void WaterfallChart::setTheme(const Theme& theme) {
    theme_ = theme;
    rebuild();
}

void WaterfallChart::setChosen(std::optional<StepPart> part) {
    if (part == chosen_) return;
    chosen_ = part;
    rebuild();
}

std::vector<StepPart> WaterfallChart::parts() const {
    std::vector<StepPart> parts;
    for (const Column& column : columns_)
        if (column.part) parts.push_back(*column.part);
    return parts;
}

void WaterfallChart::setColumns() {
    columns_.clear();
    if (!pair_) return;
    std::vector<PartDifference> parts = pair_->parts;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const PartDifference& a, const PartDifference& b) {
                         return std::abs(a.lostNs()) > std::abs(b.lostNs());
                     });
    double allNs = 0;
    for (const PartDifference& part : parts) allNs += double(std::abs(part.lostNs()));
    int64_t levelNs = pair_->baseline.meanNs;
    columns_.push_back({tr("baseline"), std::nullopt, 0, levelNs, true, false});
    int64_t restNs = 0;
    for (const PartDifference& part : parts) {
        const bool isSmall = double(std::abs(part.lostNs())) < leastShare * allNs;
        if (part.lostNs() == 0 || isSmall || columns_.size() > mostParts) {
            restNs += part.lostNs();
            continue;
        }
        columns_.push_back(
            {inLines(toQString(name(part.part))), part.part, levelNs, levelNs + part.lostNs()});
        levelNs += part.lostNs();
    }
    if (restNs != 0)
        columns_.push_back({tr("all\nothers"), std::nullopt, levelNs, levelNs + restNs});
    columns_.push_back({tr("candidate"), std::nullopt, 0, pair_->candidate.meanNs, true, true});
}

void WaterfallChart::rebuild() {
    setColumns();
    plot_->clearPlottables();
    plot_->clearItems();
    setUpAxes();
    for (size_t index = 0; index < columns_.size(); ++index) addColumn(index);
    if (columns_.empty()) sayEmpty(*plot_, theme_, font(), tr("No steps to compare"));
    setAccessibleDescription(description());
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void WaterfallChart::setUpAxes() {
    styleChart(*plot_, theme_, font());
    double least = 0, greatest = 1;
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (size_t index = 0; index < columns_.size(); ++index) {
        const Column& column = columns_[index];
        const auto [low, high] =
            std::minmax(column.isRun ? column.toNs : column.fromNs, column.toNs);
        least = index == 0 ? double(low) : std::min(least, double(low));
        greatest = std::max(greatest, double(high));
        names->addTick(double(index), column.label);
    }
    const ChartUnit unit = chartUnit(greatest);
    nsPerUnit_ = unit.nsPerUnit;
    // The changes are what one looks at, so the axis begins a little below the lowest level.
    const double span = std::max(greatest - least, greatest * 0.02);
    const double bottom = std::max(0.0, least - span * 0.6);
    plot_->xAxis->setTicker(names);
    plot_->xAxis->setRange(-0.6, std::max<double>(1, double(columns_.size())) - 0.4);
    // Room over the highest column for its number, whatever the height of the chart.
    const int labelHeight = fontMetrics().height() + 6;
    const double inner = std::max(40, height() - 3 * fontMetrics().height() - 16);
    const double top = bottom + (greatest - bottom) * inner / std::max(10.0, inner - labelHeight);
    plot_->yAxis->setRange(bottom / nsPerUnit_, top / nsPerUnit_);
    plot_->yAxis->setNumberFormat(QStringLiteral("gbc"));
    plot_->yAxis->ticker()->setTickCount(4);
    plot_->yAxis->setLabel(tr("%1 a step").arg(QLatin1String(unit.name)));
}

QColor WaterfallChart::colorOf(const Column& column) const {
    if (column.isRun) return column.isCandidate ? theme_.candidate : theme_.baseline;
    return column.toNs > column.fromNs ? theme_.slower : theme_.faster;
}

void WaterfallChart::addColumn(size_t index) {
    const Column& column = columns_[index];
    const bool isChosen = column.part && column.part == chosen_;
    const double bottom = column.isRun ? plot_->yAxis->range().lower
                                       : double(std::min(column.fromNs, column.toNs)) / nsPerUnit_;
    const double top = double(std::max(column.fromNs, column.toNs)) / nsPerUnit_;
    auto* bar = new QCPItemRect(plot_);
    bar->topLeft->setCoords(double(index) - 0.33, top);
    bar->bottomRight->setCoords(double(index) + 0.33, bottom);
    bar->setBrush(colorOf(column));
    // Its own colour around it, so that the smallest change is still a line.
    bar->setPen(isChosen ? QPen(theme_.text, 2) : QPen(colorOf(column), 1));
    if (index + 1 < columns_.size()) {
        auto* level = new QCPItemLine(plot_);
        const double at = double(column.toNs) / nsPerUnit_;
        level->start->setCoords(double(index) + 0.33, at);
        level->end->setCoords(double(index) + 0.67, at);
        level->setPen(QPen(theme_.mutedText, 1, Qt::DotLine));
    }
    auto* value = new QCPItemText(plot_);
    value->position->setCoords(double(index), top);
    value->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    value->setPadding({0, 0, 0, 2});
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    value->setFont(column.isRun || isChosen ? bold : font());
    value->setColor(theme_.text);
    value->setText(column.isRun ? toQString(formatDuration(column.toNs))
                                : signedDuration(column.toNs - column.fromNs));
}

QString WaterfallChart::description() const {
    QStringList texts;
    for (const Column& column : columns_) {
        QString label = column.label;
        texts << label.replace(QLatin1Char('\n'), QLatin1Char(' ')) + QStringLiteral(": ") +
                     (column.isRun ? toQString(formatDuration(column.toNs))
                                   : signedDuration(column.toNs - column.fromNs));
    }
    return texts.join(QStringLiteral("; "));
}

std::optional<size_t> WaterfallChart::columnAt(QPoint position) const {
    if (columns_.empty() || position.y() < plot_->axisRect()->top()) return std::nullopt;
    const double key = plot_->xAxis->pixelToCoord(position.x());
    const auto index = static_cast<int64_t>(std::floor(key + 0.5));
    if (index < 0 || index >= std::ssize(columns_)) return std::nullopt;
    return static_cast<size_t>(index);
}

void WaterfallChart::choose(std::optional<StepPart> part) {
    if (part == chosen_) part.reset();
    setChosen(part);
    emit partChosen(part);
}

bool WaterfallChart::eventFilter(QObject* watched, QEvent* event) {
    if (watched != plot_) return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        const auto index = columnAt(static_cast<QMouseEvent*>(event)->pos());
        if (index && columns_[*index].part) choose(columns_[*index].part);
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto index = columnAt(help->pos());
        if (index && columns_[*index].part && pair_) {
            const PartDifference& part = pair_->parts[static_cast<size_t>(*columns_[*index].part)];
            QToolTip::showText(
                help->globalPos(),
                plainToolTip(tr("%1: %2 against %3 a step. Click to see what it is made of.")
                                 .arg(toQString(name(part.part)),
                                      toQString(formatDuration(part.candidateNs)),
                                      toQString(formatDuration(part.baselineNs)))),
                plot_);
        }
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void WaterfallChart::keyPressEvent(QKeyEvent* event) {
    const std::vector<StepPart> all = parts();
    const bool isMove = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
    if (event->key() == Qt::Key_Escape && chosen_) return choose(chosen_);
    if (!isMove || all.empty()) return QWidget::keyPressEvent(event);
    const int step = event->key() == Qt::Key_Right ? 1 : -1;
    const auto at = chosen_ ? std::find(all.begin(), all.end(), *chosen_) : all.end();
    int64_t next = step > 0 ? 0 : std::ssize(all) - 1;
    if (at != all.end())
        next = std::clamp<int64_t>(at - all.begin() + step, 0, std::ssize(all) - 1);
    if (chosen_ != all[size_t(next)]) choose(all[size_t(next)]);
}

void WaterfallChart::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    plot_->axisRect()->setBackground(Theme::mix(theme_.canvas, theme_.accent, 0.05));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void WaterfallChart::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    plot_->axisRect()->setBackground(QBrush(Qt::NoBrush));
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void WaterfallChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    rebuild();
}

}  // namespace lanescope
