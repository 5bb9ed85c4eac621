// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QRect>
#include <QString>
#include <optional>

#include "model/lod/reduceToPixels.h"
#include "model/trace/Trace.h"
#include "views/timeline/TrackLayout.h"

class QPainter;

namespace lanescope::views {

struct Theme;

/// The card beside the pointer that says what is under it. Painted into the canvas and not a window
/// of its own: opening and moving windows is what makes tool tips slow on a remote display.
class HoverCard {
  public:
    /// `title` wraps after some lines; an empty one hides the card.
    void setContent(const QString& title, const QString& detail, const QColor& color);
    void hide() { title_.clear(); }
    bool isVisible() const { return !title_.isEmpty(); }
    const QString& title() const { return title_; }
    const QString& detail() const { return detail_; }

    /// Puts the card near `pointer`, inside `bounds`.
    void place(QPoint pointer, QRect bounds, const QFont& font);
    /// Where it is painted, for repainting no more than that.
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

struct CardText {
    QString title;
    QString detail;
};

/// What the hover card says of a slice: name, duration, start on the shared axis. If `drawn` is a
/// run of many slices it says that first, because the one under the pointer cannot be seen by
/// itself.
CardText hoverText(const Trace& trace, LanePosition lane, uint32_t slice, const PixelSlice* drawn,
                   int64_t timeOriginNs);

/// The same of a value of a counter. `drawn` is what its pixel shows.
CardText counterText(const CounterSeries& counter, uint32_t sample, const CounterColumn& drawn,
                     int64_t timeOriginNs);

/// What there is to say of a moment of `track` at which nothing was recorded or something was lost,
/// at most `toleranceNs` away; nothing if all is well.
std::optional<CardText> unrecordedText(const Track& track, int64_t timeNs, int64_t toleranceNs,
                                       int64_t timeOriginNs);

/// What to read where there is nothing to see; `trace` may be null.
QString emptySentence(const Trace* trace);

}  // namespace lanescope::views
