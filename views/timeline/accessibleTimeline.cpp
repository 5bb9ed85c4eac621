// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/accessibleTimeline.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QCoreApplication>
#include <QWidget>

#include "model/text/formatValue.h"
#include "views/text/shownText.h"
#include "views/timeline/LabelColumn.h"
#include "views/timeline/OverviewStrip.h"
#include "views/timeline/TimeRuler.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"
#include "views/timeline/scales.h"

namespace lanescope::views {
namespace {

struct Translated {
    Q_DECLARE_TR_FUNCTIONS(AccessibleTimeline)
};

QAccessibleInterface* makeInterface(const QString&, QObject* object) {
    const auto as = [&](QAccessible::Role role) { return new QAccessibleWidget(static_cast<QWidget*>(object), role); };
    if (qobject_cast<LabelColumn*>(object)) return as(QAccessible::Tree);
    if (qobject_cast<TimelineView*>(object)) return as(QAccessible::Chart);
    if (qobject_cast<TrackCanvas*>(object)) return as(QAccessible::Graphic);
    if (qobject_cast<OverviewStrip*>(object)) return as(QAccessible::Graphic);
    if (qobject_cast<TimeRuler*>(object)) return as(QAccessible::Indicator);
    return nullptr;
}

QString duration(int64_t durationNs) { return toQString(formatDuration(durationNs)); }

}  // namespace

void installTimelineAccessibility() {
    static bool isInstalled = false;
    if (!isInstalled) QAccessible::installFactory(makeInterface);
    isInstalled = true;
}

QString spokenSelection(const TimelineState& state) {
    if (!state.hasTracks()) return Translated::tr("No tracks");
    QStringList parts;
    if (const EventRef event = state.selection().event(); event.isValid()) {
        const TimeRange range = state.trace()->rangeOf(event);
        parts << Translated::tr("%1, %2 at %3")
                     .arg(toQString(state.trace()->nameOf(event)).simplified(), duration(range.durationNs()),
                          formatTime(range.startNs - state.range().origin()));
        if (const SliceLocation at = state.trace()->locate(event); at.isValid()) {
            parts << labelTitle(*state.trace(), at.track);
            const uint32_t group = state.tracks().layout().parentOf(at.track);
            if (group != noIndex) parts.back() += Translated::tr(" of %1").arg(labelTitle(*state.trace(), group));
        }
    }
    if (const auto range = state.selection().range())
        parts << Translated::tr("%1 selected from %2")
                     .arg(duration(range->durationNs()), formatTime(range->startNs - state.range().origin()));
    if (parts.isEmpty()) return Translated::tr("Nothing selected; the cursor keys select slices");
    return parts.join(QStringLiteral(", "));
}

QString spokenTrack(const TimelineState& state) {
    const size_t rows = state.tracks().layout().rows().size();
    const LayoutRow* row = state.tracks().layout().visibleRowOf(state.tracks().current());
    if (!state.hasTracks() || !row) return Translated::tr("%1 tracks").arg(rows);
    const TrackLayout& layout = state.tracks().layout();
    QStringList parts{labelTitle(*state.trace(), row->track)};
    if (const QString subtitle = labelSubtitle(*state.trace(), layout, row->track); !subtitle.isEmpty())
        parts << subtitle;
    parts << Translated::tr("level %1").arg(row->depth + 1);
    if (row->canFold) parts << (row->isFolded ? Translated::tr("folded") : Translated::tr("open"));
    if (layout.isPinned(row->track)) parts << Translated::tr("pinned");
    parts << Translated::tr("%1 of %2").arg(row - layout.rows().data() + 1).arg(rows);
    return parts.join(QStringLiteral(", "));
}

}  // namespace lanescope::views
