// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace lanescope::views {

/// How much room the user gives to the lanes.
enum class RowHeight : uint8_t { Compact, Normal, Tall };

/// Heights and distances of the layout in logical pixels.
struct LayoutMetrics {
    int laneHeight = 20;
    int squeezedLaneHeight = 4;  ///< Of the lanes of a folded track without children.
    int counterHeight = 44;      ///< Of the graph of a counter.
    int headerHeight = 28;       ///< Least height of a row.
    int summaryHeight = 8;       ///< The lane that an open group keeps in its title row.
    int padding = 4;             ///< Above the first and below the last lane of a row.
    int bottomSpace = 24;        ///< Below the last row.
    RowHeight rowHeight = RowHeight::Normal;

    /// For text of this height, so that a name fits into a lane and a title into a row.
    static LayoutMetrics forText(int textHeight, RowHeight rowHeight);
    bool operator==(const LayoutMetrics&) const = default;
};

}  // namespace lanescope::views
