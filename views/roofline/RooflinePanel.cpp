// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/roofline/RooflinePanel.h"

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "model/reports/rooflineReport.h"
#include "model/text/formatValue.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/DropDown.h"

namespace lanescope::views {

RooflinePanel::RooflinePanel(QWidget* parent)
    : Panel(parent),
      job_(new LatestJob(this)),
      chart_(new RooflineChart(this)),
      view_(new ReportView(this)),
      gpu_(new DropDown(this)),
      notes_(new QLabel(this)) {
    gpu_->setAccessibleName(tr("GPU of the chart"));
    gpu_->hide();
    view_->addControl(gpu_);
    notes_->setContentsMargins(8, 4, 8, 4);
    notes_->setTextFormat(Qt::PlainText);
    notes_->setWordWrap(true);
    notes_->hide();
    auto* sides = new QSplitter(Qt::Horizontal, this);
    sides->addWidget(chart_);
    sides->addWidget(view_);
    sides->setStretchFactor(1, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(sides, 1);
    layout->addWidget(notes_);
    connect(chart_, &RooflineChart::rowActivated, this, &RooflinePanel::activate);
    connect(view_, &ReportView::rowActivated, this, [this](int row) {
        if (row >= 0) activate(static_cast<size_t>(row));
    });
    connect(gpu_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (index >= 0) chart_->setRoofline(roofline_, gpu_->itemData(index).toUInt());
    });
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        showRoofline(nullptr, {});
        view_->setEmptyText(tr("There is not enough memory for this table."));
    });
}

void RooflinePanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    invalidate();
}

void RooflinePanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    invalidate();
}

void RooflinePanel::setTheme(const Theme& theme) { chart_->setTheme(theme); }

void RooflinePanel::showEvent(QShowEvent* event) {
    Panel::showEvent(event);
    if (isStale_) refresh();
}

void RooflinePanel::invalidate() {
    isStale_ = true;
    job_->cancel();
    if (isVisible()) refresh();
}

void RooflinePanel::refresh() {
    if (!trace_) return showRoofline(nullptr, {});
    job_->start([this, trace = trace_, range = range_]() -> LatestJob::Publish {
        auto roofline = std::make_shared<const analysis::Roofline>(analysis::rooflineOf(*trace, range));
        auto table = std::make_shared<ReportTable>(rooflineTable(*trace, *roofline));
        return [this, roofline, table, range] {
            view_->setEmptyText(range
                                    ? tr("No operator with shapes in the selected range.")
                                    : tr("No operator reports its shapes. Record with emit_nvtx(record_shapes=True)."));
            view_->setRemark(
                range ? tr("Selected range, %1 from %2")
                            .arg(shortDuration(range->durationNs()), toQString(formatTimestamp(range->startNs)))
                      : QString());
            showRoofline(roofline, std::move(*table));
        };
    });
}

void RooflinePanel::showRoofline(RooflinePtr roofline, ReportTable table) {
    isStale_ = job_->isOutdated();
    roofline_ = std::move(roofline);
    QStringList notes;
    for (const std::string& note : table.notes) notes << toQString(note);
    notes_->setText(notes.join('\n'));
    notes_->setVisible(!notes.isEmpty());
    view_->setTable(std::move(table));
    const QSignalBlocker blocker(gpu_);
    gpu_->clear();
    if (roofline_)
        for (const analysis::GpuRoofs& each : roofline_->roofs)
            gpu_->addItem(tr("GPU %1").arg(trace_->gpus[each.gpu].id), each.gpu);
    gpu_->setVisible(gpu_->count() > 1);
    chart_->setRoofline(roofline_, gpu_->count() > 0 ? gpu_->itemData(0).toUInt() : 0);
    if (!isStale_) emit updated();
}

void RooflinePanel::activate(size_t row) {
    if (!roofline_ || row >= roofline_->rows.size()) return;
    chart_->setCurrent(row);
    emit nameActivated(toQString(roofline_->rows[row].work.kernel));
    emit eventActivated(roofline_->rows[row].longest);
}

}  // namespace lanescope::views
