// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTimer>
#include <QVBoxLayout>

#include "app/viewer/HitNavigator.h"
#include "app/viewer/LiveBar.h"
#include "app/viewer/LiveFollower.h"
#include "app/viewer/PageTools.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/TraceTables.h"
#include "model/live/sameEvent.h"
#include "views/details/DetailsPanel.h"
#include "views/details/HealthBar.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/firstArrangement.h"

namespace lanescope::viewer {
namespace {

constexpr int shownPollMs = 50;

}  // namespace

void TracePage::updateTrace(TracePtr trace) {
    const views::TrackArrangement arrangement = timeline_->arrangement();
    const int scrolled = timeline_->scrollPosition();
    const auto range = timeline_->selectedRange();
    const EventRef event = sameEvent(*trace_, timeline_->selectedEvent(), *trace);
    if (liveBar_) liveBar_->beforeChange();
    trace_ = std::move(trace);
    timeline_->moveAlong([&] {
        timeline_->setTrace(trace_);
        timeline_->setFirstArrangement(views::firstArrangement(*trace_));
        timeline_->setArrangement(arrangement);
        if (liveBar_) liveBar_->afterChange(*trace_);
        timeline_->setScrollPosition(scrolled);
    });
    details_->setTrace(trace_);
    showHealth();
    tables_->setTrace(trace_);
    tools_->setTrace(trace_);
    guide_->setTrace(trace_);
    tables_->setRun(nullptr);
    timeline_->setSelectedRange(range);
    timeline_->setSelectedEvent(event);
    hits_->repeat();
}

void TracePage::follow(LiveFollower* follower) {
    follower->setParent(this);
    liveBar_ = new LiveBar(*timeline_, this);
    liveBar_->setTheme(timeline_->theme());
    static_cast<QVBoxLayout*>(layout())->insertWidget(0, liveBar_);
    guide_->setTrace(trace_);  // It is explained at its end.
    // What is not known before the end is not missing.
    healthBar_->hide();
    // Tables and sums of the new trace are made in the background; they are part of its cost.
    auto* shown = new QTimer(follower);
    shown->setInterval(shownPollMs);
    connect(shown, &QTimer::timeout, this, [this, follower, shown] {
        if (isBusy()) return;
        shown->stop();
        follower->noteShown();
    });
    connect(follower, &LiveFollower::refreshed, this, [this, shown](const TracePtr& trace) {
        updateTrace(trace);
        healthBar_->hide();
        shown->start();
    });
    connect(follower, &LiveFollower::finished, this, [this, follower](const TracePtr& trace) {
        updateTrace(trace);
        guide_->start();
        liveBar_->end({});
        follower->deleteLater();
        emit titleChanged();
    });
    connect(follower, &LiveFollower::failed, this, [this, follower](const QString& sentence) {
        liveBar_->end(sentence);
        follower->deleteLater();
    });
}

}  // namespace lanescope::viewer
