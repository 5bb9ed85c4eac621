// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QRect>
#include <cstdint>
#include <span>
#include <vector>

#include "model/flame/FlameTree.h"
#include "views/theme/Theme.h"

class QPainter;

namespace lanescope::views {

/// Where frames of a tree stand on the screen: a row for each depth, `root` at the top over the
/// whole width.
struct FlamePlaces {
    const FlameTree* tree = nullptr;
    uint32_t root = 0;
    int width = 0;      ///< Of `root`, in pixels.
    int rowHeight = 0;  ///< In pixels.

    /// Frames of a depth within `root`, by where they start. O(log n).
    std::span<const uint32_t> row(uint32_t depth) const;
    /// Where a frame within `root` is drawn; as wide as a pixel at least.
    QRect rectOf(uint32_t node) const;
    /// The pixel in which a time of the axis of `FlameTree::Node::startNs` lies.
    int xOf(int64_t ns) const;
    /// The deepest frame whose pixels hold this one; of several the longest. `noIndex` for none.
    uint32_t frameAt(QPoint position) const;
};

/// A frame as it is drawn: alone, or with others that share its pixel.
struct DrawnFrame {
    uint32_t node = 0;  ///< Of several the one that starts first.
    int x = 0, width = 0;
    bool isSeveral = false;
};

/// What is drawn of a row: no more than there are pixels, so that its cost does not grow with the
/// tree. A pixel shows every frame of its own width at least; narrower ones share one. O(width *
/// log n).
std::vector<DrawnFrame> drawnFrames(const FlamePlaces& places, uint32_t depth);

/// The colour of a frame: what ran as on the timeline, the program's own functions stronger than
/// those of packages.
QColor flameColor(const FlameTree& tree, uint32_t node, const Theme& theme);

/// Paints the rows from `firstDepth` that `area` has room for, from its top on. With matches all
/// other frames are faint. GUI thread.
void paintFlame(QPainter& painter, QRect area, const FlamePlaces& places, uint32_t firstDepth,
                const FlameMatches& matches, const Theme& theme);

}  // namespace lanescope::views
