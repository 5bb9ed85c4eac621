// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/StepsPanel.h"

#include <QKeyEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollArea>
#include <algorithm>
#include <utility>

#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"
#include "views/tables/ReportPanel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"

namespace lanescope::views {

using namespace explain;

namespace {

constexpr int minMapRowHeight = 4, maxMapRowHeight = 28;

constexpr int tablePage = 0, lensPage = 1, firstLateness = 2;

}  // namespace

RankLens::RankLens(QWidget* parent) : StepMap(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Map of ranks and steps"));
}

void RankLens::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    chosen_.reset();
    measureLabels();
    setMeasure(measure_);
    updateGeometry();
}

void RankLens::setMeasure(const LensMeasure& measure) {
    measure_ = measure;
    scale_ = run_ ? explain::scaleOf(run_->summary, measure_) : LensScale();
    setAccessibleDescription(toQString(name(measure_)));
    update();
}

QSize RankLens::minimumSizeHint() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return {240, rows * minMapRowHeight + footer() + fontMetrics().height()};
}

QSize RankLens::sizeHint() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return {800, rows * maxMapRowHeight + footer() + fontMetrics().height()};
}

QRect RankLens::mapArea() const {
    const int labels = rowHeight() >= fontMetrics().height() ? labelWidth_ : 0;
    const int left = 10 + std::min(labels + (labels > 0 ? 10 : 0), width() / 3);
    return {left, 6, std::max(1, width() - left - 10), height() - footer()};
}

void RankLens::measureLabels() {
    labelWidth_ = 0;
    for (size_t row = 0; !isEmpty() && row < run_->grid.rowCount(); ++row)
        labelWidth_ = std::max(labelWidth_, fontMetrics().horizontalAdvance(
                                                toQString(run_->summary.workers[run_->grid.workerOf(row)].label())));
}

int RankLens::rowHeight() const {
    const int rows = isEmpty() ? 1 : static_cast<int>(run_->grid.rowCount());
    return std::clamp((height() - footer()) / rows, minMapRowHeight, maxMapRowHeight);
}

QRectF RankLens::cellOf(size_t row, size_t column) const {
    const QRect area = mapArea();
    const size_t first = column / columnsPerMark() * columnsPerMark();
    return QRectF(area.left() + columnWidth() * double(first), area.top() + double(row) * rowHeight(),
                  std::max(1.0, columnWidth() * double(columnsPerMark())), rowHeight());
}

QColor RankLens::colorOf(StepPlace place) const {
    const QColor strong = measure_.kind == LensMeasure::Kind::Part ? theme_.colorOf(measure_.part) : theme_.slower;
    const double share = scale_.shareOf(valueOf(stepOf(place), measure_));
    return heatColor(theme_, strong, share);
}

void RankLens::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    painter.fillRect(rect(), theme_.canvas);
    if (isEmpty()) {
        painter.setPen(theme_.mutedText);
        painter.drawText(rect(), Qt::AlignCenter, tr("No steps were found in this trace."));
        return;
    }
    const QRect area = mapArea();
    const int high = rowHeight();
    const double gap = columnWidth() >= 6 ? 1 : 0;
    for (size_t row = 0; row < run_->grid.rowCount(); ++row) {
        const QRect line(0, area.top() + static_cast<int>(row) * high, area.left() - 8, high);
        // Only few of thousands of rows are visible.
        if (line.bottom() < event->rect().top() || line.top() > event->rect().bottom()) continue;
        if (high >= fontMetrics().height()) {
            painter.setPen(theme_.text);
            painter.drawText(line.adjusted(10, 0, 0, 0), Qt::AlignRight | Qt::AlignVCenter,
                             toQString(run_->summary.workers[run_->grid.workerOf(row)].label()));
        }
        for (size_t first = 0; first < run_->grid.columnCount(); first += columnsPerMark()) {
            const auto longest = run_->grid.longestIn(row, first, columnsPerMark());
            if (!longest) continue;
            const QRectF cell = cellOf(row, first);
            painter.fillRect(cell.adjusted(0, 0, -gap, high > 6 ? -1 : 0), colorOf(*run_->grid.at(row, *longest)));
        }
    }
    if (chosen_) {
        painter.setPen(QPen(theme_.text, 2));
        painter.drawRect(cellOf(chosen_->row, chosen_->column));
    }
    paintAxis(painter);
    paintLegend(painter);
    if (hasFocus()) paintFocusFrame(painter, rect(), theme_);
}

void RankLens::paintLegend(QPainter& painter) const {
    const QRect area = mapArea();
    const int top = height() - fontMetrics().height() - 8;
    const QString low = shortDuration(scale_.lowNs);
    const QString high = shortDuration(scale_.highNs);
    const QColor strong = measure_.kind == LensMeasure::Kind::Part ? theme_.colorOf(measure_.part) : theme_.slower;
    int x = area.left();
    painter.setPen(theme_.mutedText);
    const auto write = [&](const QString& text) {
        const int wide = fontMetrics().horizontalAdvance(text);
        painter.drawText(x, top + fontMetrics().ascent(), text);
        x += wide + 8;
    };
    write(low);
    const QRect bar(x, top + 2, 90, fontMetrics().height() - 4);
    paintHeatBar(painter, bar, heatColor(theme_, strong, 0), {}, strong);
    x = bar.right() + 8;
    write(high);
}

/// Step numbers under the map, at steps of 1, 2 or 5 times a power of ten.
void RankLens::paintAxis(QPainter& painter) const {
    const QRect area = mapArea();
    const int top = area.top() + static_cast<int>(run_->grid.rowCount()) * rowHeight();
    const auto count = run_->grid.columnCount();
    const int room = fontMetrics().horizontalAdvance(QString::number(run_->grid.numberOf(count - 1))) + 16;
    size_t distance = 1;
    for (int multiple = 0; columnWidth() * double(distance) < room; ++multiple)
        distance = distance * (multiple % 3 == 1 ? 5 : 4) / 2;
    painter.setPen(theme_.mutedText);
    const QString title = tr("step");
    painter.drawText(QRect(0, top, area.left() - 8, fontMetrics().height() + 4), Qt::AlignRight | Qt::AlignVCenter,
                     title);
    for (size_t column = 0; column < count; ++column) {
        const int64_t number = run_->grid.numberOf(column);
        if (number % static_cast<int64_t>(distance) != 0) continue;
        const double middle = area.left() + columnWidth() * (double(column) + 0.5);
        painter.fillRect(QRectF(middle, top, 1, 3), theme_.mutedText);
        const QString text = QString::number(number);
        const int wide = fontMetrics().horizontalAdvance(text);
        if (middle + wide / 2.0 > area.right()) break;
        painter.drawText(QPointF(std::max<double>(area.left(), middle - wide / 2.0), top + 3 + fontMetrics().ascent()),
                         text);
    }
}

std::optional<StepPlace> RankLens::stepAt(QPoint position) const {
    if (isEmpty()) return std::nullopt;
    const QRect area = mapArea();
    if (position.x() < area.left() || position.x() > area.right() || position.y() < area.top()) return std::nullopt;
    const auto row = static_cast<size_t>((position.y() - area.top()) / rowHeight());
    if (row >= run_->grid.rowCount()) return std::nullopt;
    const auto column = static_cast<size_t>((position.x() - area.left() + 0.5) / columnWidth());
    return longestAt(row, column);
}

QString RankLens::tipAt(StepPlace place) const {
    const analysis::StepSummary& step = stepOf(place);
    if (run_->summary.source == StepSource::WholeRun)
        return tr("Whole run, %1\n%2: %3")
            .arg(toQString(run_->summary.workers[place.worker].label()), toQString(name(measure_)),
                 shortDuration(valueOf(step, measure_)));
    return tr("Step %1, %2\n%3: %4\nwhole step: %5")
        .arg(step.number)
        .arg(toQString(run_->summary.workers[place.worker].label()), toQString(name(measure_)),
             shortDuration(valueOf(step, measure_)), shortDuration(step.wallNs));
}

void RankLens::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto place = stepAt(event->pos()))
        choose(run_->grid.rowOf(place->worker), run_->grid.columnOf(stepOf(*place).number), 1);
}

void RankLens::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto place = stepAt(event->pos())) emit stepActivated(*place);
}

void RankLens::keyPressEvent(QKeyEvent* event) {
    if (isEmpty()) return QWidget::keyPressEvent(event);
    const size_t last = run_->grid.columnCount() - 1;
    const auto [row, column] = chosen_.value_or(Cell());
    switch (event->key()) {
        case Qt::Key_Left:
            if (column > 0) choose(row, column - 1, -1);
            return;
        case Qt::Key_Right: choose(row, chosen_ ? column + 1 : 0, 1); return;
        case Qt::Key_Up:
            if (row > 0) choose(row - 1, column, 1);
            return;
        case Qt::Key_Down:
            if (row + 1 < run_->grid.rowCount()) choose(row + 1, column, 1);
            return;
        case Qt::Key_Home: choose(row, 0, 1); return;
        case Qt::Key_End: choose(row, last, -1); return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (const auto place = chosen()) emit stepActivated(*place);
            return;
        default: QWidget::keyPressEvent(event);
    }
}

std::optional<QString> RankLens::toolTipAt(QPoint position) const {
    const auto place = stepAt(position);
    return place ? plainToolTip(tipAt(*place)) : QString();
}

void RankLens::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    measureLabels();
    updateGeometry();
    update();
}

/// The table of steps, with the parts of each step as a stacked bar.
class StepsModel : public ReportModel {
  public:
    void setSteps(ExplainedRunPtr run, std::vector<StepPlace> places, int partsColumn) {
        run_ = std::move(run);
        places_ = std::move(places);
        partsColumn_ = partsColumn;
    }
    const std::vector<StepPlace>& places() const { return places_; }
    void setTheme(const Theme& theme) {
        theme_ = theme;
        if (rowCount() > 0)
            emit dataChanged(index(0, partsColumn_), index(rowCount() - 1, partsColumn_), {SegmentsRole});
    }

    QVariant data(const QModelIndex& index, int role) const override {
        const auto row = static_cast<size_t>(index.row());
        if (const Cell* cell = cellAt(index.row(), index.column());
            cell && role == Qt::DisplayRole && index.column() == partsColumn_ - 1)
            if (const auto* excessNs = std::get_if<int64_t>(cell)) return signedDuration(*excessNs);
        const bool isOfParts = role == SegmentsRole || role == Qt::ToolTipRole || role == SortRole;
        if (!isOfParts || index.column() != partsColumn_ || !run_ || row >= places_.size())
            return ReportModel::data(index, role);
        const analysis::StepSummary& step = run_->summary.workers[places_[row].worker].steps[places_[row].step];
        const std::vector<analysis::StepPart> parts = partsBySize(step.parts);
        const auto shareOf = [&step](analysis::StepPart part) {
            return static_cast<double>(step.parts[part]) / static_cast<double>(std::max<int64_t>(1, step.wallNs));
        };
        if (role == SortRole) return parts.empty() ? QVariant() : shareOf(parts.front());
        if (role == Qt::ToolTipRole) return partsTip({}, step.parts, theme_);
        QList<BarSegment> segments;
        for (const analysis::StepPart part : parts) segments.append({shareOf(part), theme_.colorOf(part)});
        return QVariant::fromValue(segments);
    }

  private:
    ExplainedRunPtr run_;
    std::vector<StepPlace> places_;
    int partsColumn_ = -1;
    Theme theme_ = Theme::light();
};

StepsPanel::StepsPanel(QWidget* parent) : Panel(parent), model_(new StepsModel), table_(new ReportView(model_, this)) {
    choice_->setObjectName("choice");
    unit_->setObjectName("unit");
    unit_->setAccessibleName(tr("Unit of the steps"));
    unit_->setToolTip(tr("The intervals that count as steps"));
    unit_->hide();
    measure_->setObjectName("measure");
    choice_->setAccessibleName(tr("Shown measure of the steps"));
    measure_->setAccessibleName(tr("Measure of the map"));
    choice_->addItems({tr("Table of steps"), tr("Map of ranks and steps")});
    pages_->addWidget(table_);
    auto* area = new QScrollArea(this);
    area->setWidget(lens_);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    pages_->addWidget(area);
    lateness_ = {addLateness(tr("Late ranks"), QStringLiteral("nccl_lateness")),
                 addLateness(tr("Late collectives"), QStringLiteral("nccl_lateness:collective"))};
    table_->setEmptyText(tr("No steps were found in this trace. Mark them with NVTX ranges named \"step\"."));

    auto* top = rowIn(nullptr, {8, 0, 0, 0}, 8);
    addTo(top, choice_, unit_, measure_);
    top->addWidget(bars_, 1);
    // In page order; the map has no filter.
    bars_->addWidget(&table_->bar());
    bars_->addWidget(new QWidget);
    for (ReportPanel* panel : lateness_) bars_->addWidget(&panel->view().bar());
    bars_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    addTo(columnIn(this), top, Filling{pages_});
    connect(choice_, &QComboBox::currentIndexChanged, this, &StepsPanel::showPage);
    connect(unit_, &QComboBox::activated, this,
            [this](int index) { emit unitChosen(unit_->itemData(index).toString()); });
    connect(measure_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (!run_ || index < 0) return;
        lens_->setMeasure(measuresOf(run_->summary)[static_cast<size_t>(index)]);
    });
    connect(table_, &ReportView::rowActivated, this, [this](int row) {
        if (row >= 0 && static_cast<size_t>(row) < model_->places().size())
            emit stepActivated(model_->places()[static_cast<size_t>(row)]);
    });
    connect(lens_, &RankLens::stepActivated, this, &StepsPanel::stepActivated);
    showPage(tablePage);
}

ReportPanel* StepsPanel::addLateness(const QString& title, const QString& report) {
    auto* panel = new ReportPanel(report, this);
    choice_->addItem(title);
    pages_->addWidget(panel);
    connect(&panel->view(), &ReportView::rowActivated, this, [this, panel](int row) {
        const ReportTable& table = panel->view().model().table();
        if (row < 0 || static_cast<size_t>(row) >= table.rows.size()) return;
        for (size_t column = 0; column < table.columns.size(); ++column)
            if (table.columns[column].unit == Unit::Timestamp)
                if (const auto* timeNs = std::get_if<int64_t>(&table.rows[static_cast<size_t>(row)][column]))
                    return emit timeActivated(*timeNs);
    });
    return panel;
}

void StepsPanel::showPage(int page) {
    pages_->setCurrentIndex(page);
    bars_->setCurrentIndex(page);
    measure_->setVisible(page == lensPage);
}

ReportView* StepsPanel::table() const {
    const int page = choice_->currentIndex();
    if (page == tablePage) return table_;
    return page >= firstLateness ? &lateness_[static_cast<size_t>(page - firstLateness)]->view() : nullptr;
}

bool StepsPanel::isStale() const {
    const int page = choice_->currentIndex();
    return job_->isRunning() ||
           (page >= firstLateness && lateness_[static_cast<size_t>(page - firstLateness)]->isStale());
}

void StepsPanel::setTrace(TracePtr trace) {
    for (ReportPanel* panel : lateness_) panel->setTrace(trace);
}

void StepsPanel::setRange(std::optional<TimeRange> range) {
    for (ReportPanel* panel : lateness_) panel->setRange(range);
}

void StepsPanel::setTheme(const Theme& theme) {
    lens_->setTheme(theme);
    model_->setTheme(theme);
}

void StepsPanel::fillMeasures() {
    const QSignalBlocker blocker(measure_);
    measure_->clear();
    if (!run_) return;
    for (const LensMeasure& each : measuresOf(run_->summary)) measure_->addItem(toQString(name(each)));
}

void StepsPanel::setUnits(const std::vector<StepUnit>& units, const std::string& chosen) {
    unit_->clear();
    for (size_t index = 0; index < units.size(); ++index) {
        const StepUnit& unit = units[index];
        const QString name = toQString(analysis::shortContributorName(unit.pattern));
        unit_->addItem(
            unit.pattern.empty() ? tr("Whole run") : tr("%1 \u00d7 %2").arg(toQString(formatCount(unit.count)), name),
            index == 0 ? QString() : toQString(unit.pattern));
        unit_->setItemData(static_cast<int>(index), plainToolTip(toQString(unit.pattern)), Qt::ToolTipRole);
        if (index > 0 && unit.pattern == chosen) unit_->setCurrentIndex(static_cast<int>(index));
    }
    unit_->setVisible(units.size() > 1);
}

void StepsPanel::setRun(ExplainedRunPtr run) {
    run_ = std::move(run);
    lens_->setRun(run_);
    lens_->setMeasure({});
    fillMeasures();
    model_->setSteps(nullptr, {}, -1);
    table_->setTable({});
    if (!run_) return job_->cancel();
    job_->start([this, shown = run_]() -> LatestJob::Publish {
        auto made = std::make_shared<StepsTable>(stepsTable(shown->summary));
        return [this, made, shown] {
            model_->setSteps(shown, std::move(made->places), static_cast<int>(made->partsColumn));
            table_->setTable(std::move(made->table));
        };
    });
}

}  // namespace lanescope::views
