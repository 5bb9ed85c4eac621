// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QHash>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <array>

#include "model/trace/StringTable.h"
#include "views/timeline/OpaqueFill.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackGeometry.h"

namespace lanescope::views {

/// Names cut to fit. Measuring and cutting text costs more than drawing it, and the same name is
/// cut to the same few widths again and again.
class LabelCache {
  public:
    void reset(const StringTable* strings, const QFont& font);
    /// The name in at most `width` pixels: whole, or cut with an ellipsis; a number at its end
    /// stays. Empty if nothing readable is left.
    const QString& fitted(StringIndex name, double width);

  private:
    QString cut(const QString& text, double width) const;
    double widthOf(const QString& text) const;

    static constexpr qsizetype mostEntries = 20'000;
    static constexpr int stepPixels = 6;  // cut widths are rounded down to this

    const StringTable* strings_ = nullptr;
    QFontMetricsF metrics_{QFont()};
    QFontMetricsF unhinted_{QFont()};
    QHash<StringIndex, double> fullWidth_;
    QHash<quint64, QString> fitted_;
};

/// Fills what is too small to be told apart in one lane: neighbouring pixels with slices in them,
/// from left to right. Those that look alike become one fill. How much of a pixel is busy is the
/// height of a bar where there is room to read it, else the strength of its colour.
class RunPainter {
  public:
    RunPainter(OpaqueFill& fill, const QRectF& area, QRgb background);

    /// A rectangle of which `coverage` is busy.
    void add(double left, double right, QRgb color, float coverage) {
        const int level = levelOf(coverage);
        const bool continues =
            right_ > left_ && color == color_ && level == level_ && left - right_ <= 0.01;
        if (!continues) {
            flush();
            left_ = left;
            color_ = color;
            level_ = level;
        }
        right_ = right;
    }
    /// Fills what was added last; before something else is painted, and at the end.
    void flush();

  private:
    /// Few levels make long fills.
    static constexpr int levelCount = 12;
    static int levelOf(float coverage) {
        // Rounded up, without a call: this runs for every rectangle.
        const float exact = coverage * levelCount;
        const auto whole = static_cast<int>(exact);
        const int level = static_cast<float>(whole) < exact ? whole + 1 : whole;
        return level < 1 ? 1 : level > levelCount ? levelCount : level;
    }

    OpaqueFill& fill_;
    QRectF area_;
    QRgb background_;
    bool isTall_;
    std::array<double, levelCount + 1> heights_{};  ///< Of a bar, by level.

    double left_ = 0, right_ = 0;  ///< Of what is not filled yet.
    QRgb color_ = 0;
    int level_ = 0;
};

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
    std::vector<analysis::StepParts> columns_;  ///< For `paintParts`.
};

}  // namespace lanescope::views
