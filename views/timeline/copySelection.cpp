// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/copySelection.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMimeData>

#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

/// One cell of a table on the clipboard.
QString cell(const std::string& text) {
    return toQString(text).replace('\t', ' ').replace('\n', ' ');
}

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
    if (state.selectedEvent().isValid()) {
        const SliceLocation at = trace.locate(state.selectedEvent());
        name = cell(trace.nameOf(state.selectedEvent()));
        range = trace.rangeOf(state.selectedEvent());
        if (at.isValid()) track = trackOf(trace, at.track);
    } else if (state.gapMark()) {
        name = QStringLiteral("idle gap");
        range = state.gapMark()->range;
        if (!state.gapMark()->tracks.empty()) track = trackOf(trace, state.gapMark()->tracks[0]);
    } else if (state.selectedRange()) {
        name = QStringLiteral("selected range");
        range = *state.selectedRange();
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

}  // namespace lanescope::views
