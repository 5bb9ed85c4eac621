#include "views/summary/BandwidthPanel.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "model/export/formatTable.h"
#include "model/summary/reports.h"
#include "views/summary/BandwidthChart.h"
#include "views/summary/LatestJob.h"
#include "views/summary/ReportView.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

QLabel* titleLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    QFont font = label->font();
    font.setWeight(QFont::DemiBold);
    label->setFont(font);
    label->setContentsMargins(10, 6, 8, 4);
    return label;
}

}  // namespace

BandwidthPanel::BandwidthPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      wholeView_(new ReportView(this)),
      selectedTitle_(titleLabel({}, this)),
      selectedView_(new ReportView(this)),
      selectedBox_(new QWidget(this)),
      chart_(new BandwidthChart(this)) {
    wholeView_->setFilterVisible(false);
    selectedView_->setFilterVisible(false);
    wholeView_->setEmptyText(tr("No memcpy was recorded."));
    selectedView_->setEmptyText(tr("No memcpy lies in the selected range."));

    auto* selectedLayout = new QVBoxLayout(selectedBox_);
    selectedLayout->setContentsMargins(0, 0, 0, 0);
    selectedLayout->setSpacing(0);
    selectedLayout->addWidget(selectedTitle_);
    selectedLayout->addWidget(selectedView_, 1);
    selectedBox_->hide();

    auto* tables = new QWidget(this);
    auto* tableLayout = new QVBoxLayout(tables);
    tableLayout->setContentsMargins(0, 0, 0, 0);
    tableLayout->setSpacing(0);
    tableLayout->addWidget(titleLabel(tr("Whole trace"), this));
    tableLayout->addWidget(wholeView_, 1);
    tableLayout->addWidget(selectedBox_, 1);

    auto* splitter = new QSplitter(this);
    splitter->addWidget(tables);
    splitter->addWidget(chart_);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
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
    selectedBox_->setVisible(range_.has_value());
    if (range_) {
        selectedTitle_->setText(tr("Selected range, %1 from %2")
                                    .arg(toQString(formatDuration(range_->durationNs())),
                                         toQString(formatDuration(range_->startNs))));
    }
    chart_->setRows(whole.rows, selected.rows);
    emit updated();
}

}  // namespace lanescope
