// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportPanel.h"

#include <QMenu>
#include <algorithm>
#include <string>

#include "model/events/listEvents.h"
#include "model/lod/SelectionStatistics.h"
#include "model/remote/RemoteTrace.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/eventFacts.h"
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

ReportPanel::ReportPanel(const QString& reportName, QWidget* parent) : ComputedPanel(parent), reportName_(reportName) {
    connect(job(), &LatestJob::ranOutOfMemory, this,
            [this] { showReport(fail("There is not enough memory for this table."), range_); });
    addTo(columnIn(this), Filling{view_}, notes_);
    notes_->setContentsMargins(8, 4, 8, 4);
    notes_->setTextInteractionFlags(Qt::TextSelectableByMouse);
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
    const QStringList notes = report ? toQStrings(report->notes) : QStringList();
    notes_->setText(notes.join('\n'));
    notes_->setVisible(!notes.isEmpty());
    settle();
}

namespace {

Cell rankCell(const Trace& trace, EventRef event) {
    uint32_t process = noIndex;
    if (const uint32_t stream = streamOf(trace, event); stream != noIndex)
        process = trace.streams[stream].process;
    else if (const uint32_t thread = threadOf(trace, event); thread != noIndex)
        process = trace.threads[thread].process;
    if (process == noIndex || !trace.processes[process].rank) return {};
    return int64_t{*trace.processes[process].rank};
}

/// Maximum number of names per table (kernels, API calls and so on).
constexpr size_t maxNames = 10;
constexpr int maxGroups = 64;
constexpr int maxGroupNameLength = 60;

}  // namespace

ReportTable hitTable(const Trace& trace, std::span<const EventRef> events) {
    ReportTable table;
    table.name = "search_results";
    table.title = "Search results";
    table.columns = {{"Start", Unit::Timestamp}, {"Duration", Unit::Nanoseconds},  {"What", Unit::Text},
                     {"Name", Unit::Text},       {"Thread or stream", Unit::Text}, {"Rank", Unit::Identifier},
                     {"GPU", Unit::Identifier}};
    const size_t count = std::min(events.size(), maxHitRows);
    table.rows.reserve(count);
    for (const EventRef event : events.first(count)) {
        const TimeRange range = trace.rangeOf(event);
        table.rows.push_back({range.startNs, range.durationNs(), std::string(nameOfKind(event.kind())),
                              trace.nameOf(event), eventCell(trace, event, EventColumn::Line), rankCell(trace, event),
                              eventCell(trace, event, EventColumn::Gpu)});
    }
    return table;
}

struct SelectionPanel::Counted {
    std::string headline;
    ReportTable names, copies;
};

SelectionPanel::SelectionPanel(QWidget* parent) : ComputedPanel(parent) {
    connect(job(), &LatestJob::ranOutOfMemory, this, [this] {
        showCounted({"There is not enough memory to sum up this range.", {}, {}});
    });
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headline_->setContentsMargins(8, 6, 8, 2);
    headline_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    names_->setFilterVisible(false);
    copies_->setFilterVisible(false);
    names_->setEmptyText(tr("Nothing lies in the selected range."));
    copies_->setEmptyText(tr("No memory was copied or set in the selected range."));
    // Names need the room; copies have a few short words.
    split(splitter_, {{names_, 900, 1}, {copies_, 620}});
    auto* layout = columnIn(this);
    names_->setObjectName("names");
    copies_->setObjectName("copies");
    tracksButton_->setObjectName("tracks");
    tracksButton_->setPopupMode(QToolButton::InstantPopup);
    tracksButton_->setAccessibleName(tr("Tracks that count"));
    tracksButton_->setMenu(new QMenu(tracksButton_));
    auto* top = rowIn(nullptr, {0, 4, 8, 0}, -1);
    top->addWidget(headline_, 1);
    top->addWidget(tracksButton_, 0, Qt::AlignTop);
    addTo(layout, top, Filling{splitter_});
    for (const ReportView* view : {names_, copies_})
        connect(view, &ReportView::nameActivated, this, &SelectionPanel::nameActivated);
    showCounted({});
}

void SelectionPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    range_.reset();
    chosen_.clear();
    job()->cancel();
    fillTracks();
    count();
}

void SelectionPanel::fillTracks() {
    QMenu& menu = *tracksButton_->menu();
    menu.clear();
    tracksButton_->setText(tr("All tracks"));
    QAction* all = menu.addAction(tr("All tracks"));
    connect(all, &QAction::triggered, this, [this] {
        chosen_.clear();
        for (QAction* action : tracksButton_->menu()->actions()) action->setChecked(false);
        tracksButton_->setText(tr("All tracks"));
        count();
    });
    menu.addSeparator();
    int listed = 0;
    const uint32_t count = trace_ ? static_cast<uint32_t>(trace_->tracks.size()) : 0;
    for (uint32_t track = 0; track < count && listed < maxGroups; ++track) {
        const Track& group = trace_->tracks[track];
        if (group.parent >= 0 || group.kind == TrackKind::CounterGroup) continue;
        QString text = toQString(group.title).simplified();
        if (!group.subtitle.empty()) text += ", " + toQString(group.subtitle).simplified();
        QAction* action = menu.addAction(text.left(maxGroupNameLength).replace('&', "&&"));
        action->setCheckable(true);
        connect(action, &QAction::triggered, this, [this, track](bool isChosen) { choose(track, isChosen); });
        ++listed;
    }
    tracksButton_->setVisible(listed > 1);
}

void SelectionPanel::choose(uint32_t track, bool isChosen) {
    std::erase(chosen_, track);
    if (isChosen) chosen_.push_back(track);
    tracksButton_->setText(chosen_.empty()       ? tr("All tracks")
                           : chosen_.size() == 1 ? toQString(trace_->tracks[chosen_[0]].title)
                                                 : tr("%1 groups").arg(chosen_.size()));
    count();
}

std::optional<std::vector<uint32_t>> SelectionPanel::chosenTracks() const {
    if (chosen_.empty()) return std::nullopt;
    std::vector<bool> isChosen(trace_->tracks.size(), false);
    std::vector<uint32_t> tracks;
    for (uint32_t track = 0; track < trace_->tracks.size(); ++track) {
        const int32_t parent = trace_->tracks[track].parent;
        isChosen[track] = parent >= 0 ? isChosen[static_cast<size_t>(parent)]
                                      : std::find(chosen_.begin(), chosen_.end(), track) != chosen_.end();
        if (isChosen[track]) tracks.push_back(track);
    }
    return tracks;
}

void SelectionPanel::setRange(std::optional<TimeRange> range) {
    if (range == range_) return;
    range_ = range;
    count();
}

/// Without a range there is nothing to wait for.
void SelectionPanel::count() {
    if (trace_ && range_) return follow();
    job()->cancel();
    showCounted({});
}

void SelectionPanel::refresh(LatestJob::Older older) {
    job()->start(
        [this, trace = trace_, range = *range_, tracks = chosenTracks()]() -> LatestJob::Publish {
            Counted counted;
            const SelectionStatistics statistics = selectionStatistics(*trace, trace->sums, range, tracks);
            counted.headline = selectionHeadline(*trace, statistics);
            counted.names = selectedNames(*trace, statistics, maxNames);
            counted.copies = selectedCopies(statistics);
            return [this, counted = std::move(counted)] { showCounted(counted); };
        },
        older);
}

void SelectionPanel::showCounted(const Counted& counted) {
    const bool isEmpty = !trace_ || !range_;
    headline_->setText(isEmpty ? tr("Select a range of time with Shift+drag on the timeline or by dragging on the "
                                    "ruler; what lies in it is summed up here.")
                               : toQString(counted.headline));
    splitter_->setVisible(!isEmpty);
    names_->setTable(counted.names);
    copies_->setTable(counted.copies);
    settle();
}

}  // namespace lanescope::views
