// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRect>
#include <QString>
#include <optional>

#include "model/lod/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackLayout.h"

namespace lanescope::views {

/// The tip next to the pointer that describes the item under it. Painted into the canvas instead of a window of its
/// own, because opening and moving windows makes tool tips slow on a remote display.
class HoverTip {
  public:
    /// `title` wraps after some lines; an empty one hides the tip.
    void setContent(const QString& title, const QString& detail, const QColor& color);
    void hide() { title_.clear(); }
    bool isVisible() const { return !title_.isEmpty(); }
    const QString& title() const { return title_; }
    const QString& detail() const { return detail_; }

    /// Places the tip near `pointer`, inside `bounds`, below or above the lane that it describes, if there is one.
    void place(QPoint pointer, QRect bounds, const QFont& font, QRect lane = {});
    /// Returns the painted rectangle, to repaint only this.
    QRect rectangle() const { return rectangle_; }
    void paint(QPainter& painter, const QFont& font, const Theme& theme) const;

  private:
    QString title_;
    QString detail_;
    QColor color_;
    QRect rectangle_;
    QRect titleArea_;
    QRect detailArea_;
};

struct HoverText {
    QString title;
    QString detail;
};

/// Returns the hover tip of a slice: name, duration, start on the shared axis. If `drawn` is a run
/// of many slices, the tip begins with that, because a single one is not visible.
HoverText hoverText(const Trace& trace, LanePosition lane, uint32_t slice, const PixelSlice* drawn,
                    int64_t timeOriginNs);

/// Returns the same for a value of a counter. `drawn` is the content of its pixel.
HoverText counterText(const CounterSeries& counter, uint32_t sample, const CounterColumn& drawn, int64_t timeOriginNs);

/// Describes a time of `track` at most `toleranceNs` away at which nothing was recorded or data was
/// lost; nullopt if nothing is missing.
std::optional<HoverText> unrecordedText(const Track& track, int64_t timeNs, int64_t toleranceNs, int64_t timeOriginNs);

/// Describes a time of a row without slices, counters excepted: how long nothing is there; nullopt on a slice.
std::optional<HoverText> emptyText(const TimelineState& state, const LayoutRow& row, int64_t timeNs);

/// Returns the text of an empty timeline; `trace` may be null.
QString emptySentence(const Trace* trace);

}  // namespace lanescope::views
