// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <optional>

#include "model/reduce/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

struct CardText {
    QString title;
    QString detail;
};

/// What the hover card says of a slice: name, duration, start on the shared axis. If `drawn` is a
/// run of many slices it says that first, because the one under the pointer cannot be seen by
/// itself.
CardText hoverText(const Trace& trace, LanePosition lane, uint32_t slice, const PixelSlice* drawn,
                   int64_t timeOriginNs);

/// The same of a value of a counter. `drawn` is what its pixel shows.
CardText counterText(const CounterSeries& counter, uint32_t sample, const CounterColumn& drawn,
                     int64_t timeOriginNs);

/// What there is to say of a moment of `track` at which nothing was recorded or something was lost,
/// at most `toleranceNs` away; nothing if all is well.
std::optional<CardText> unrecordedText(const Track& track, int64_t timeNs, int64_t toleranceNs,
                                       int64_t timeOriginNs);

/// What to read where there is nothing to see; `trace` may be null.
QString emptySentence(const Trace* trace);

}  // namespace lanescope::views
