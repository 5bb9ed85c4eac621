// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/notes/MarkStore.h"

namespace lanescope::views {

class TimelineView;

/// The flags of the marks, on a strip between the ruler and the tracks. Click selects, drag moves,
/// double click edits; a double click beside them asks for a new mark.
class MarkStrip : public QWidget {
    Q_OBJECT

  public:
    static constexpr int stripHeight = 22;

    MarkStrip(MarkStore& store, TimelineView& timeline);

    /// Where the flag of a mark stands; empty while it is out of sight.
    QRect flagOf(const std::string& id) const;

  signals:
    void editRequested(const std::string& id);
    void newMarkRequested(qint64 timeNs);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Flag {
        const Mark* mark;
        QRect area;
        TimeRange range;  ///< As drawn: while it is dragged not yet the mark's.
    };
    /// Those in sight, from left to right. O(n log n) in the marks, without their texts.
    std::vector<Flag> flags() const;
    int widthOf(const Mark& mark, int room) const;
    const Mark* markAt(QPoint position) const;
    TimeRange shownRange(const Mark& mark) const;
    double toX(int64_t timeNs) const;
    void paintStretch(QPainter& painter, const Flag& flag) const;
    void paintFlag(QPainter& painter, const Flag& flag) const;

    MarkStore& store_;
    TimelineView& timeline_;
    std::string pressed_, hovered_;
    int pressedX_ = 0;
    bool isDragging_ = false;
    int64_t draggedNs_ = 0;
};

}  // namespace lanescope::views
