#pragma once

#include <QString>

#include "model/reduce/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope {

struct CardText {
    QString title;
    QString detail;
};

/// What the hover card says of a slice: name, duration, start on the shared axis. If `drawn` is a
/// run of many slices it says that first, because the one under the pointer cannot be seen by
/// itself.
CardText hoverText(const Trace& trace, LanePosition lane, uint32_t slice, const PixelSlice* drawn,
                   int64_t timeOriginNs);

/// What to read where there is nothing to see; `trace` may be null.
QString emptySentence(const Trace* trace);

}  // namespace lanescope
