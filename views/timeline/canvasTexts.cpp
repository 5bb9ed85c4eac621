#include "views/timeline/canvasTexts.h"

#include <cmath>

#include "model/export/formatTable.h"
#include "views/timeline/timeTicks.h"

namespace lanescope {
namespace {

QString duration(int64_t durationNs) {
    return QString::fromStdString(formatDuration(durationNs));
}

QString fromView(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

CardText hoverText(const Trace& trace, LanePosition position, uint32_t slice,
                   const PixelSlice* drawn, int64_t timeOriginNs) {
    const Lane& lane = trace.tracks[position.track].lanes[position.lane];
    const EventRef event = lane.event[slice];
    CardText text;
    text.title = event.isValid() ? QString::fromStdString(trace.nameOf(event))
                                 : fromView(trace.strings.at(lane.name[slice]));
    if (text.title.isEmpty())
        text.title = event.isValid() ? QStringLiteral("(no name)") : QStringLiteral("Busy");
    text.detail = QStringLiteral("%1   at %2")
                      .arg(duration(lane.endNs[slice] - lane.startNs[slice]),
                           formatTime(lane.startNs[slice] - timeOriginNs));
    if (drawn && drawn->sliceCount > 1) {
        text.detail += QStringLiteral("\none of %1 here, %2 % busy; zoom in to tell them apart")
                           .arg(QString::fromStdString(formatCount(drawn->sliceCount)))
                           .arg(std::lround(double(drawn->coverage) * 100));
    }
    return text;
}

QString emptySentence(const Trace* trace) {
    if (!trace)
        return QStringLiteral("No trace is open. Open one from the File menu, or drop it here.");
    return QStringLiteral("%1 holds no events with a time, so there is nothing to draw.")
        .arg(QString::fromStdString(trace->title.empty() ? std::string("This trace")
                                                         : trace->title));
}

}  // namespace lanescope
