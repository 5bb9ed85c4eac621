// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/OverviewActivity.h"

#include <algorithm>
#include <cmath>

#include "model/reduce/reduceToPixels.h"

namespace lanescope::views {
namespace {

// Adds the covered share of each pixel column.
void addCoverage(const Lane& lane, TimeRange range, std::vector<float>& columns) {
    for (const PixelSlice& slice : reduceToPixels(lane, range, static_cast<int>(columns.size()))) {
        const auto last = std::min(columns.size(), static_cast<size_t>(std::ceil(slice.right)));
        for (auto column = static_cast<size_t>(slice.left); column < last; ++column) {
            const float from = std::max(slice.left, float(column));
            const float to = std::min(slice.right, float(column + 1));
            columns[column] += std::max(0.0f, to - from) * slice.coverage;
        }
    }
}

std::vector<float> meanActivity(const Trace& trace, TimeRange range, int pixelWidth,
                                std::initializer_list<TrackKind> kindsByPreference) {
    std::vector<float> mean(static_cast<size_t>(std::max(0, pixelWidth)), 0.0f);
    for (const TrackKind kind : kindsByPreference) {
        int trackCount = 0;
        for (const Track& track : trace.tracks) {
            if (track.kind != kind || track.lanes.empty()) continue;
            // Lanes of one track overlap; together they are at most busy.
            std::vector<float> columns(mean.size(), 0.0f);
            for (const Lane& lane : track.lanes) addCoverage(lane, range, columns);
            for (size_t i = 0; i < mean.size(); ++i) mean[i] += std::min(1.0f, columns[i]);
            ++trackCount;
        }
        if (trackCount == 0) continue;
        for (float& column : mean) column /= static_cast<float>(trackCount);
        break;
    }
    return mean;
}

}  // namespace

OverviewActivity overviewActivity(const Trace& trace, TimeRange range, int pixelWidth) {
    return {meanActivity(trace, range, pixelWidth, {TrackKind::Gpu, TrackKind::Stream}),
            meanActivity(trace, range, pixelWidth,
                         {TrackKind::Process, TrackKind::ThreadApi, TrackKind::Thread})};
}

}  // namespace lanescope::views
