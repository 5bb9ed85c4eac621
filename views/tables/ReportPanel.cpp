// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportPanel.h"

#include <QLabel>

#include "model/remote/RemoteTrace.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

ScopeChoice::ScopeChoice(QWidget* parent) : DropDown(parent) {
    setAccessibleName(tr("Which time is counted"));
    addItems({tr("Selection (or whole trace)"), tr("Visible range"), tr("Whole trace")});
    setToolTip(tr("Which time is counted. Without a selected range, all of it."));
    connect(this, &QComboBox::currentIndexChanged, this, &ScopeChoice::countedChanged);
}

void ScopeChoice::setSelectedRange(std::optional<TimeRange> range) {
    if (range == selected_) return;
    selected_ = range;
    if (scope() == Scope::Selected) emit countedChanged();
}

void ScopeChoice::setVisibleRange(TimeRange range) {
    if (visible_ == range) return;
    visible_ = range;
    if (scope() == Scope::Visible) emit countedChanged();
}

std::optional<TimeRange> ScopeChoice::counted() const {
    switch (scope()) {
        case Scope::Selected: return selected_;
        case Scope::Visible: return visible_;
        case Scope::Whole: break;
    }
    return std::nullopt;
}

QString ScopeChoice::remark() const {
    const std::optional<TimeRange> range = counted();
    if (!range) return tr("Whole trace");
    return (scope() == Scope::Visible ? tr("Visible range, %1 from %2") : tr("Selected range, %1 from %2"))
        .arg(shortDuration(range->durationNs()), formatTime(range->startNs));
}

ReportPanel::ReportPanel(const QString& reportName, QWidget* parent)
    : ComputedPanel(parent), reportName_(reportName), view_(new ReportView(this)), notes_(new QLabel(this)) {
    connect(job(), &LatestJob::ranOutOfMemory, this,
            [this] { showReport(fail("There is not enough memory for this table."), range_); });
    auto* layout = columnIn(this);
    layout->addWidget(view_, 1);
    layout->addWidget(notes_);
    notes_->setContentsMargins(8, 4, 8, 4);
    notes_->setTextFormat(Qt::PlainText);
    notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    notes_->setWordWrap(true);
    notes_->hide();
    connect(view_, &ReportView::nameActivated, this, &ReportPanel::nameActivated);
}

void ReportPanel::offer(const std::vector<std::pair<QString, QString>>& reports) {
    choice_ = new DropDown(this);
    choice_->setAccessibleName(tr("Group rows by"));
    for (const auto& [title, name] : reports) choice_->addItem(title, name);
    choice_->setCurrentIndex(choice_->findData(reportName_));
    view_->addControl(choice_);
    connect(choice_, &QComboBox::currentIndexChanged, this, [this] {
        reportName_ = choice_->currentData().toString();
        invalidate();
    });
}

void ReportPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    invalidate();
}

void ReportPanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    follow();
}

void ReportPanel::refresh(LatestJob::Older older) {
    if (!trace_) {
        view_->setTable({});
        return settle();
    }
    job()->start(
        [this, trace = trace_, range = range_, name = reportName_.toStdString()]() -> LatestJob::Publish {
            const auto remote = remoteOf(*trace);
            auto report = std::make_shared<Result<ReportTable>>(remote ? remote->report(name, range)
                                                                       : makeReport(*trace, name, range));
            // Only the GUI thread uses `this`; the job has checked there that it is alive.
            return [this, report, range] { showReport(*report, range); };
        },
        older);
}

void ReportPanel::showReport(const Result<ReportTable>& report, std::optional<TimeRange> range) {
    view_->setRemark(range ? tr("Selected range, %1 from %2")
                                 .arg(shortDuration(range->durationNs()), toQString(formatTimestamp(range->startNs)))
                           : QString());
    if (report) {
        view_->setEmptyText(range ? tr("None in the selected range.") : tr("Not recorded in this trace."));
        view_->setTable(indentedRows(*report));
    } else {
        view_->setTable({});
        view_->setEmptyText(toQString(report.error().sentence));
    }
    QStringList notes;
    if (report)
        for (const std::string& note : report->notes) notes << toQString(note);
    notes_->setText(notes.join('\n'));
    notes_->setVisible(!notes.isEmpty());
    settle();
}

}  // namespace lanescope::views
