// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/format/TimeRange.h"

namespace lanescope::views {

/// What is known of a place of a track where nothing is drawn.
struct EmptyPlace {
    QString title, detail;
    QColor color;
    TimeRange range;  ///< How far it reaches.
};
/// Tells it, or nothing, of a track and a time; quickly, as the pointer asks wherever it goes.
using EmptyPlaces = std::function<std::optional<EmptyPlace>(uint32_t track, int64_t timeNs)>;

/// Gives for each of `count` equal columns of a time what a GPU did in it; false if that is not
/// known. Quickly, as every picture asks.
using GpuParts = std::function<bool(uint32_t gpu, TimeRange time, size_t count,
                                    std::vector<analysis::StepParts>& columns)>;

/// A stretch of time that is marked on some tracks.
struct GapMark {
    TimeRange range;
    std::vector<uint32_t> tracks;
    QColor color;
};

}  // namespace lanescope::views
