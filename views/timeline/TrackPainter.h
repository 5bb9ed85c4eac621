// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QHash>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <array>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "model/trace/StringTable.h"
#include "views/theme/Theme.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackLayout.h"
#include "views/timeline/scales.h"

namespace lanescope::views {

/// The direction in which a graph grows.
enum class CounterGrowth { Up, Down };

/// Paints a counter as a filled step graph into `area`, over `scale`, whose maximum (and minimum, unless 0) is written
/// at the left. `columns` are its values per device pixel of `shown`; `devicePixelRatio` of them make one logical
/// pixel. Unknown values are a hatched area; a sample that is a mean over a long time is a pale hatched band with a
/// label. Rectangles are filled by `opaque`, which belongs to `painter`.
void paintCounter(QPainter& painter, OpaqueFill& opaque, const CounterSeries& counter, const CounterScale& scale,
                  const std::vector<CounterColumn>& columns, TimeRange shown, const QRectF& area, CounterGrowth growth,
                  double devicePixelRatio, const Theme& theme);

/// Returns the y of a value within `area`: the bottom for the minimum of the counter, just below
/// the other side for the maximum.
double counterY(const CounterScale& scale, double value, const QRectF& area, CounterGrowth growth = CounterGrowth::Up);

/// Names elided to a width. Measuring and eliding costs more than drawing, and the same name is
/// elided to the same few widths repeatedly.
class LabelCache {
  public:
    void reset(const StringTable* strings, const QFont& font);
    /// Returns the name in at most `width` pixels: whole, elided with its final number kept, or only that number.
    /// Empty if no readable text is left.
    const QString& fitted(StringIndex name, double width);
    /// Returns the names of merged slices in at most `width` pixels: "it 0 … it 49 (50)", or less of it; empty if it
    /// does not fit.
    QString fittedSeries(StringIndex first, StringIndex last, uint32_t count, double width) const;
    /// Returns true if the names differ only in their numbers.
    bool areOfOneSeries(StringIndex one, StringIndex other);

  private:
    QString textOf(StringIndex name) const;
    QString cut(const QString& text, double width) const;
    double widthOf(const QString& text) const;

    static constexpr qsizetype maxEntries = 20'000;
    static constexpr int stepPixels = 6;  // elided widths are rounded down to this, narrow ones to 1

    const StringTable* strings_ = nullptr;
    QFontMetricsF metrics_{QFont()};
    QFontMetricsF unhinted_{QFont()};
    QHash<StringIndex, double> fullWidth_;
    QHash<quint64, QString> fitted_;
    QHash<StringIndex, size_t> stems_;  ///< Hashes of names without digits.
};

/// Fills slices of one lane that are too small to distinguish: adjacent pixels with slices, from
/// left to right. Equal neighbours become one fill. The busy share of a pixel is the height of a
/// bar if there is room, else the strength of its colour. The top of a full bar is perforated: a single slice is
/// smooth.
class RunPainter {
  public:
    RunPainter(OpaqueFill& fill, const QRectF& area, QRgb background);

    /// Adds a rectangle of which `coverage` is busy.
    void add(double left, double right, QRgb color, float coverage) {
        const int level = levelOf(coverage);
        const bool continues = right_ > left_ && color == color_ && level == level_ && left - right_ <= 0.01;
        if (!continues) {
            flush();
            left_ = left;
            color_ = color;
            level_ = level;
        }
        right_ = right;
    }
    /// Fills the pending rectangles; call before painting something else, and at the end.
    void flush();

  private:
    /// Few levels make long fills.
    static constexpr int levelCount = 12;
    static int levelOf(float coverage) {
        // Rounded up without a call: this runs for every rectangle.
        const float exact = coverage * levelCount;
        const auto whole = static_cast<int>(exact);
        const int level = static_cast<float>(whole) < exact ? whole + 1 : whole;
        return level < 1 ? 1 : level > levelCount ? levelCount : level;
    }

    OpaqueFill& fill_;
    QRectF area_;
    QRgb background_;
    bool isTall_;
    std::array<double, levelCount + 1> heights_{};  ///< Height of a bar by level.

    double left_ = 0, right_ = 0;  ///< The pending rectangle.
    QRgb color_ = 0;
    int level_ = 0;
};

/// Paints rows of slices with their grid: everything on the canvas that is independent of the
/// pointer. Keeps the caches that make the next frame cheap, so use one painter per picture size.
class TrackPainter {
  public:
    explicit TrackPainter(const TimelineState& state) : state_(state) {}

    /// Call after a change of trace, theme or font.
    void reset(const QFont& font);
    /// Paints the rows at the state's scroll position into `size` logical pixels at (0, 0).
    /// `devicePixelRatio` is the number of distinguishable rectangles per logical pixel.
    void paint(QPainter& painter, QSize size, double devicePixelRatio);

    /// Paints the rows only, over existing content: for a second trace between the rows of a first.
    void paintRows(QPainter& painter, QSize size, double devicePixelRatio);
    /// Outlines over each lane the events of its track's counterpart in `other`; null for none.
    /// `other` outlives the painter.
    void setBaselineOverlay(const TimelineState* other);

    /// Returns the result of the last `paint`, to find the item under the pointer.
    TrackGeometry& geometry() { return geometry_; }
    SliceColors& colors() { return colors_; }
    const QFont& font() const { return font_; }

  private:
    void prepareLanes(QSize size);
    void paintBand(QPainter& painter, const TrackScroll::Band& band, QSize size);
    void paintGrid(QPainter& painter, QSize size, int top, int bottom) const;
    /// A painter, and the way to fill many rectangles with it.
    struct Brush {
        QPainter& painter;
        OpaqueFill fill;
    };
    void paintLane(Brush& brush, LanePosition lane, const QRectF& area, QRgb background);
    /// Merged slices without a pixel between them.
    struct Run {
        double left = 0, right = 0;
        uint32_t firstSlice = 0, endSlice = 0;
        bool isSeries = true;  ///< All names differ only in numbers.
        bool isEmpty() const { return endSlice == firstSlice; }
    };
    void extend(Run& run, const Lane& lane, const PixelSlice& slice);
    void paintRunLabel(QPainter& painter, const Run& run, const Lane& lane, const QRectF& area);
    void paintSlice(Brush& brush, StringIndex name, const QRectF& rectangle, QRgb color, bool isLit);
    void paintBaselineOverlay(QPainter& painter, LanePosition lane, const QRectF& area);
    void paintActivity(OpaqueFill& fill, const std::vector<PixelSlice>& slices, const QRectF& area, QRgb color) const;
    /// Paints the parts of a GPU's time, each as high as its share of the column; returns false if they are unknown.
    bool paintParts(OpaqueFill& fill, uint32_t track, const QRectF& area);
    void paintHits(OpaqueFill& fill, LanePosition position, const std::vector<PixelSlice>& slices,
                   const QRectF& area) const;
    void paintLabel(QPainter& painter, StringIndex name, const QRectF& slice, QRgb fill);

    const TimelineState& state_;
    QFont font_;
    double ratio_ = 1;
    double baseline_ = 0;        // from the middle of a lane down to the baseline of its text
    double minLabelHeight_ = 0;  // a lower slice has no name
    TrackGeometry geometry_;
    const TimelineState* baselineOverlay_ = nullptr;
    TrackGeometry baselineGeometry_;
    SliceColors colors_;
    LabelCache labels_;
    std::vector<analysis::StepParts> columns_;  ///< For `paintParts`.
};

}  // namespace lanescope::views
