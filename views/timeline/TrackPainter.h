// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QPainter>

#include "views/timeline/LabelCache.h"
#include "views/timeline/OpaqueFill.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackGeometry.h"

namespace lanescope::views {

/// Paints rows of slices with their grid: everything on the canvas that stays as it is while the
/// pointer moves. Keeps the caches that make the next frame cheap, so give each picture size its
/// own painter.
class TrackPainter {
  public:
    explicit TrackPainter(const TimelineState& state) : state_(state) {}

    /// To be called when the trace, the theme or the font is another one.
    void reset(const QFont& font);
    /// Paints the rows at the state's scroll position into `size` logical pixels at (0, 0).
    /// `devicePixelRatio` is how many rectangles are worth telling apart in one of them.
    void paint(QPainter& painter, QSize size, double devicePixelRatio);

    /// The rows alone, over what is there already: for a second trace between the rows of a first.
    void paintRows(QPainter& painter, QSize size, double devicePixelRatio);
    /// Outlines over each lane what the counterpart of its track in `other` did; null for nothing.
    /// `other` outlives the painter.
    void setGhost(const TimelineState* other);

    /// What the last `paint` drew, for finding what is under the pointer.
    TrackGeometry& geometry() { return geometry_; }
    SliceColors& colors() { return colors_; }
    const QFont& font() const { return font_; }

  private:
    void prepareLanes(QSize size);
    void paintBand(QPainter& painter, const TimelineState::Band& band, QSize size);
    void paintGrid(QPainter& painter, QSize size, int top, int bottom) const;
    /// A painter, and the way to fill many rectangles where it paints.
    struct Brush {
        QPainter& painter;
        OpaqueFill fill;
    };
    void paintLane(Brush& brush, LanePosition lane, const QRectF& area, QRgb background);
    void paintSlice(Brush& brush, StringIndex name, const QRectF& rectangle, QRgb color,
                    bool isLit);
    void paintGhost(QPainter& painter, LanePosition lane, const QRectF& area);
    void paintActivity(OpaqueFill& fill, const std::vector<PixelSlice>& slices, const QRectF& area,
                       QRgb color) const;
    /// What the GPU of a track did, each part as high as its share of the column; false if that is
    /// not known.
    bool paintParts(OpaqueFill& fill, uint32_t track, const QRectF& area);
    void paintHits(OpaqueFill& fill, LanePosition position, const std::vector<PixelSlice>& slices,
                   const QRectF& area) const;
    void paintLabel(QPainter& painter, StringIndex name, const QRectF& slice, QRgb fill);

    const TimelineState& state_;
    QFont font_;
    double ratio_ = 1;
    double baseline_ = 0;  // from the middle of a lane down to the baseline of its text
    TrackGeometry geometry_;
    const TimelineState* ghost_ = nullptr;
    TrackGeometry ghostGeometry_;
    SliceColors colors_;
    LabelCache labels_;
    std::vector<compare::StepParts> columns_;  ///< For `paintParts`.
};

}  // namespace lanescope::views
