// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QSize>

#include "views/timeline/TimelineState.h"

class QPainter;

namespace lanescope::views {

/// What the pointer and the keys are at in the labels, to be lit up.
struct LabelMarks {
    uint32_t hovered = noIndex;
    bool isOnPin = false;  ///< The pointer is on the pin of the hovered row.
    uint32_t current = noIndex;
    bool hasFocus = false;  ///< The current row gets a focus frame.
    uint32_t flashed = noIndex;
    uint32_t dragged = noIndex;
    std::optional<int> dropY;  ///< Where the dragged row would go, as a height of the layout.
};

/// Paints the titles of the visible rows over what is there already.
void paintLabels(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                 const LabelMarks& marks = {});

/// Where the pin of a row stands in a column of this width and font: `top` is the row's on the
/// screen.
QRect pinArea(const LayoutRow& row, int top, int width, const QFont& font);

/// Title and subtitle of a track on one line each; a pinned track says which group it is from.
QString labelTitle(const Trace& trace, uint32_t track);
QString labelSubtitle(const Trace& trace, const TrackLayout& layout, uint32_t track);

}  // namespace lanescope::views
