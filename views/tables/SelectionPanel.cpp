// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/SelectionPanel.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>
#include <string>

#include "model/select/SelectionStatistics.h"
#include "model/select/selectionTables.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/ReportView.h"
#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

/// Of kernels, of API calls and so on.
constexpr size_t mostNames = 10;

}  // namespace

struct SelectionPanel::Counted {
    std::string headline;
    ReportTable names, copies;
};

SelectionPanel::SelectionPanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      headline_(new WrappedLabel(this)),
      splitter_(new QSplitter(this)),
      names_(new ReportView(this)),
      copies_(new ReportView(this)) {
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headline_->setContentsMargins(8, 6, 8, 2);
    names_->setFilterVisible(false);
    copies_->setFilterVisible(false);
    names_->setEmptyText(tr("Nothing lies in the selected range."));
    copies_->setEmptyText(tr("No memory was copied or set in the selected range."));
    splitter_->addWidget(names_);
    splitter_->addWidget(copies_);
    // Names need the room; of copies there are a few short words.
    splitter_->setStretchFactor(0, 1);
    splitter_->setStretchFactor(1, 0);
    splitter_->setSizes({900, 620});
    splitter_->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(headline_);
    layout->addWidget(splitter_, 1);
    for (const ReportView* view : {names_, copies_})
        connect(view, &ReportView::nameActivated, this, &SelectionPanel::nameActivated);
    showCounted({});
}

void SelectionPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    job_->cancel();
    refresh();
}

void SelectionPanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    refresh();
}

QString SelectionPanel::headline() const {
    return headline_->text();
}

void SelectionPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (isStale_) refresh();
}

void SelectionPanel::refresh() {
    isStale_ = true;
    if (!trace_ || !range_) {
        job_->cancel();
        return showCounted({});
    }
    // What still runs is of another range, and would be taken for this one's when it is shown.
    if (!isVisible()) return job_->cancel();
    // Of a range that is being dragged what was counted a moment ago is better than nothing.
    job_->start(
        [this, trace = trace_, range = *range_]() -> LatestJob::Publish {
            Counted counted;
            const SelectionStatistics statistics = selectionStatistics(*trace, trace->sums, range);
            counted.headline = selectionHeadline(*trace, statistics);
            counted.names = selectedNames(*trace, statistics, mostNames);
            counted.copies = selectedCopies(statistics);
            return [this, counted = std::move(counted)] { showCounted(counted); };
        },
        LatestJob::Older::Published);
}

void SelectionPanel::showCounted(const Counted& counted) {
    isStale_ = job_->isOutdated();
    const bool isEmpty = !trace_ || !range_;
    headline_->setText(isEmpty ? tr("Select a range of time with Shift+drag on the timeline or by "
                                    "dragging on the ruler; what lies in it is summed up here.")
                               : toQString(counted.headline));
    splitter_->setVisible(!isEmpty);
    if (isEmpty) layout()->setAlignment(headline_, Qt::AlignTop);
    names_->setTable(counted.names);
    copies_->setTable(counted.copies);
    if (!isStale_) emit updated();
}

}  // namespace lanescope::views
