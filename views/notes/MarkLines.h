// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/notes/MarkStore.h"

namespace lanescope::views {

class TimelineView;

/// Lies over the tracks and draws the marks through them: a line, or the edges of a range, stronger
/// in the track that a mark is about. Takes no part in input.
class MarkLines : public QWidget {
    Q_OBJECT

  public:
    MarkLines(MarkStore& store, TimelineView& timeline);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void follow();
    void paintMark(QPainter& painter, const Mark& mark) const;

    MarkStore& store_;
    TimelineView& timeline_;
};

}  // namespace lanescope::views
