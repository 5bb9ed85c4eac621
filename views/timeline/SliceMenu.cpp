// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/SliceMenu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

#include "model/trace/kinds/flows.h"
#include "views/text/shownText.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/TrackMenu.h"

namespace lanescope::views {
namespace {

/// Returns one cell of a table for the clipboard.
QString cell(const std::string& text) { return toQString(text).replace('\t', ' ').replace('\n', ' '); }

QString trackOf(const Trace& trace, uint32_t track) {
    QString path;
    for (uint32_t each = track; each < trace.tracks.size();) {
        const QString title = cell(trace.tracks[each].title);
        path = path.isEmpty() ? title : title + " / " + path;
        const int32_t parent = trace.tracks[each].parent;
        if (parent < 0 || static_cast<uint32_t>(parent) >= each) break;
        each = static_cast<uint32_t>(parent);
    }
    return path;
}

}  // namespace

bool copySelection(const TimelineState& state) {
    if (!state.trace()) return false;
    const Trace& trace = *state.trace();
    QString name, track;
    TimeRange range;
    if (state.selection().event().isValid()) {
        const SliceLocation at = trace.locate(state.selection().event());
        name = cell(trace.nameOf(state.selection().event()));
        range = trace.rangeOf(state.selection().event());
        if (at.isValid()) track = trackOf(trace, at.track);
    } else if (state.selection().gapMark()) {
        name = QStringLiteral("idle gap");
        range = state.selection().gapMark()->range;
        if (!state.selection().gapMark()->tracks.empty())
            track = trackOf(trace, state.selection().gapMark()->tracks[0]);
    } else if (state.selection().range()) {
        name = QStringLiteral("selected range");
        range = *state.selection().range();
    } else {
        return false;
    }
    const QString text = QStringLiteral("Name\tTrack\tStart (ns)\tDuration (ns)\n%1\t%2\t%3\t%4\n")
                             .arg(name, track)
                             .arg(range.startNs)
                             .arg(range.durationNs());
    auto* data = new QMimeData;
    data->setText(text);
    data->setData(QStringLiteral("text/tab-separated-values"), text.toUtf8());
    QGuiApplication::clipboard()->setMimeData(data);
    return true;
}

SliceMenu::SliceMenu(TimelineState& state, const TimelinePlace& place, QWidget* parent)
    : QMenu(parent), state_(state), place_(place) {
    if (!state_.hasTracks()) return;
    if (place_.event.isValid()) addSliceEntries();
    if (place_.isIdle) {
        addMenuTitle(*this, tr("Idle GPU"));
        addAction(tr("Why is it idle?"), this,
                  [this] { emit state_.emptyPlaceActivated(place_.track, place_.timeNs); });
    }
    if (!place_.range.isEmpty()) addRangeEntries();
    addTrackEntries();
}

void SliceMenu::addSliceEntries() {
    const Trace& trace = *state_.trace();
    const EventRef event = place_.event;
    addMenuTitle(*this, menuText(toQString(trace.nameOf(event)).simplified()));
    const auto addFollow = [&](const QString& text, int direction, bool hasAny) {
        QAction* action = addAction(text, this, [this, event, direction] {
            state_.selection().setEvent(event);
            TimelineNavigator(state_).followFlow(direction);
        });
        action->setEnabled(hasAny);
    };
    const bool isForward = !backwardOf(trace, event).empty();
    const bool isBackward = !forwardOf(trace, event).empty();
    if (isForward || isBackward) {
        addFollow(tr("Its forward operator\tQ"), -1, isBackward);
        addFollow(tr("Its backward operator\tE"), +1, isForward);
    } else {
        addFollow(tr("Go to its launch\tQ"), -1, !causesOf(trace, event).empty());
        addFollow(tr("Go to the work it launched\tE"), +1, !causedBy(trace, event).empty());
    }
    addSeparator();
    addAction(tr("Copy\tCtrl+C"), this, [this, event] {
        state_.selection().setEvent(event);
        copySelection(state_);
    });
    addAction(tr("Find all of this name"), this,
              [this, event] { emit state_.nameRequested(toQString(state_.trace()->nameOf(event))); });
    if (state_.hasTables()) {
        addAction(tr("Show all instances (timeline and histogram)"), this,
                  [this, event] { emit state_.histogramRequested(event); });
        addAction(tr("Show in the events"), this, [this, event] { emit state_.listRequested(event); });
    }
}

void SliceMenu::addRangeEntries() {
    if (place_.event.isValid()) addSeparator();
    addAction(place_.event.isValid() ? tr("Zoom to it\tReturn") : tr("Zoom to the gap"), this,
              [this] { state_.range().zoomTo(place_.range); });
    addAction(place_.event.isValid() ? tr("Select its time as range\tR") : tr("Select the gap as range\tR"), this,
              [this] { state_.selection().setRange(place_.range); });
}

void SliceMenu::addTrackEntries() {
    const uint32_t track = place_.track;
    if (track >= state_.trace()->tracks.size()) return;
    addMenuTitle(*this, menuText(toQString(state_.trace()->tracks[track].title).simplified()));
    addAction(state_.tracks().layout().isPinned(track) ? tr("Unpin the track\tP") : tr("Pin the track\tP"), this,
              [this, track] { togglePinned(state_, track); });
    addAction(tr("Hide the track\tH"), this, [this, track] { hideTrack(state_, track); });
}

}  // namespace lanescope::views
