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

/// The explanation of an empty place of a track.
struct EmptyPlace {
    QString title, detail = {};
    QColor color;
    TimeRange range;  ///< The extent of the place.
};
/// Returns the explanation of a track at a time, or nullopt. Must be fast: called on every pointer movement.
using EmptyPlaces = std::function<std::optional<EmptyPlace>(uint32_t track, int64_t timeNs)>;

/// Computes a GPU's parts for `count` equal columns of a time range; returns false if they are
/// unknown. Must be fast: called for every picture.
using GpuParts =
    std::function<bool(uint32_t gpu, TimeRange time, size_t count, std::vector<analysis::StepParts>& columns)>;

/// A time range that is marked on some tracks.
struct GapMark {
    TimeRange range;
    std::vector<uint32_t> tracks;
    QColor color;
};

}  // namespace lanescope::views
