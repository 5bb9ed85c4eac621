// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ComparePage.h"

#include "app/viewer/AppSettings.h"
#include "app/viewer/HitNavigator.h"
#include "views/compare/CompareTables.h"
#include "views/compare/ComparedTimelines.h"
#include "views/jobs/LazyTab.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;

namespace {

/// Returns, for example, "b1.sqlite" or "b1.sqlite and 2 more runs".
QString nameOf(const TracePtr& shown, size_t runs) {
    const QString title = toQString(shown->title);
    if (runs <= 1) return title;
    return runs == 2 ? ComparePage::tr("%1 and another run").arg(title)
                     : ComparePage::tr("%1 and %2 more runs").arg(title).arg(runs - 1);
}

}  // namespace

ComparePage::ComparePage(TracePtr baseline, std::vector<TracePtr> candidates, QWidget* parent) : ComparePage(parent) {
    view_->setTraces(std::move(baseline), std::move(candidates));
}

ComparePage::ComparePage(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate, QWidget* parent)
    : ComparePage(parent) {
    view_->setRuns(std::move(baseline), std::move(candidate));
}

ComparePage::ComparePage(QWidget* parent)
    : DocumentPage(parent),
      hits_(new HitNavigator({&view_->baseline().timeline(), &view_->candidate().timeline()}, this)) {
    auto* area = new PageArea(view_, this);
    columnIn(this)->addWidget(area);
    connect(view_, &CompareView::placeShown, this, [this, area] { area->showPart(view_->baseline().timeline()); });
    connect(view_, &CompareView::titleChanged, this, &DocumentPage::titleChanged);
    setFocusProxy(&view_->baseline().timeline());
}

QString ComparePage::title() const {
    return tr("%1 against %2")
        .arg(nameOf(view_->candidate().timeline().trace(), view_->candidateRuns().size()),
             nameOf(view_->baseline().timeline().trace(), view_->baselineRuns().size()));
}

std::vector<TimelineView*> ComparePage::timelines() const {
    return {&view_->baseline().timeline(), &view_->candidate().timeline()};
}

ReportView* ComparePage::currentTable() const {
    const LazyTab* tab = view_->tables().isVisible() ? view_->tables().currentTab() : nullptr;
    return tab ? tab->table() : nullptr;
}

bool ComparePage::isBusy() const {
    const LazyTab* tab = view_->tables().currentTab();
    return hits_->isSearching() || view_->isBusy() || (tab && tab->isBusy());
}

QString ComparePage::arrangementName() const {
    // The tracks of both runs have one arrangement, different from that of a single run.
    return QStringLiteral("%1\n%2").arg(toQString(view_->baseline().timeline().trace()->path.string()),
                                        toQString(view_->candidate().timeline().trace()->path.string()));
}

void ComparePage::restoreLayout(const AppSettings& settings) {
    view_->restoreState(settings.splitterState("compare"));
    const QByteArray json = settings.trackArrangement(arrangementName());
    if (const auto arrangement = arrangementFromJson(json))
        view_->baseline().timeline().state().tracks().setArrangement(*arrangement);
}

void ComparePage::storeLayout(AppSettings& settings) const {
    settings.setSplitterState("compare", view_->saveState());
    const TrackArrangement arrangement = view_->baseline().timeline().state().tracks().arrangement();
    settings.setTrackArrangement(arrangementName(), arrangement.isDefault() ? QByteArray() : toJson(arrangement));
}

}  // namespace lanescope::viewer
