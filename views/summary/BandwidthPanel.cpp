#include "views/summary/BandwidthPanel.h"

#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include "model/export/formatTable.h"
#include "model/summary/reports.h"
#include "views/summary/BandwidthChart.h"
#include "views/summary/LatestJob.h"
#include "views/summary/ReportView.h"
#include "views/text/toQString.h"

namespace lanescope {
BandwidthPanel::BandwidthPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      wholeView_(new ReportView(this)),
      selectedView_(new ReportView(this)),
      tables_(new QTabWidget(this)),
      chart_(new BandwidthChart(this)) {
    wholeView_->setFilterVisible(false);
    selectedView_->setFilterVisible(false);
    wholeView_->setEmptyText(tr("No memcpy was recorded."));
    selectedView_->setEmptyText(tr("No memcpy lies in the selected range."));
    tables_->setDocumentMode(true);
    tables_->addTab(wholeView_, tr("Whole trace"));
    tables_->addTab(selectedView_, tr("Selected range"));
    tables_->setTabVisible(1, false);

    auto* splitter = new QSplitter(this);
    splitter->addWidget(tables_);
    splitter->addWidget(chart_);
    splitter->setSizes({1060, 540});
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 1);
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);

    for (ReportView* view : {wholeView_, selectedView_}) {
        connect(view, &ReportView::nameActivated, this, &BandwidthPanel::nameActivated);
    }
}

void BandwidthPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    invalidate();
}

void BandwidthPanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    invalidate();
}

void BandwidthPanel::setTheme(const Theme& theme) {
    chart_->setTheme(theme);
}

void BandwidthPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (isStale_) refresh();
}

void BandwidthPanel::invalidate() {
    isStale_ = true;
    job_->cancel();
    if (isVisible()) refresh();
}

BandwidthPanel::Counted BandwidthPanel::count(const Trace& trace, std::optional<TimeRange> range) {
    Counted counted;
    if (auto table = makeReport(trace, "memcpy_bandwidth", range))
        counted.table = std::move(*table);
    counted.rows = bandwidthByKind(trace, range);
    return counted;
}

void BandwidthPanel::refresh() {
    if (!trace_) {
        showCounted({}, {});
        return;
    }
    job_->start([this, trace = trace_, range = range_]() -> LatestJob::Publish {
        return
            [this, whole = count(*trace, std::nullopt),
             selected = range ? count(*trace, range) : Counted()] { showCounted(whole, selected); };
    });
}

void BandwidthPanel::showCounted(const Counted& whole, const Counted& selected) {
    isStale_ = false;
    wholeView_->setTable(whole.table);
    selectedView_->setTable(selected.table);
    const bool wasSelected = tables_->isTabVisible(1);
    tables_->setTabVisible(1, range_.has_value());
    if (range_) {
        tables_->setTabText(1, tr("Selected range, %1 from %2")
                                   .arg(toQString(formatDuration(range_->durationNs())),
                                        toQString(formatDuration(range_->startNs))));
        // A new selection is what the user wants to see; an extended one keeps the table chosen.
        if (!wasSelected) tables_->setCurrentIndex(1);
    }
    chart_->setRows(whole.rows, selected.rows);
    emit updated();
}

}  // namespace lanescope
