// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QPainter>
#include <QSize>
#include <QWidget>

#include "views/theme/PaintedWidget.h"
#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// The label under the pointer and the keyboard cursor, to highlight.
struct LabelMarks {
    uint32_t hovered = noIndex;
    bool isOnPin = false;  ///< The pointer is on the pin of the hovered row.
    uint32_t current = noIndex;
    bool hasFocus = false;  ///< The current row gets a focus frame.
    uint32_t flashed = noIndex;
    uint32_t dragged = noIndex;
    std::optional<int> dropY = {};  ///< The drop position of the dragged row, as a layout height.
};

/// Paints the titles of the visible rows over existing content.
void paintLabels(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                 const LabelMarks& marks = {});

/// Returns the top of the title of a row on the screen: in sight while lanes of a high row are, below the pinned rows.
int titleTop(const LayoutRow& row, const TrackScroll& scroll, const QFont& font);

/// Returns the pin's area of a row in a column of this width and font: `top` is that of the title on the screen.
QRect pinArea(const LayoutRow& row, int top, int width, const QFont& font);

/// Returns title and subtitle of a track, one line each; a pinned track includes its group.
QString labelTitle(const Trace& trace, uint32_t track);
QString labelSubtitle(const Trace& trace, const TrackLayout& layout, uint32_t track);

/// Titles of the tracks, left of the canvas and scrolled with it. A click folds or unfolds, with Shift including all
/// descendants. A drag moves the track among its siblings, the pin keeps it at the top, and the right edge can be
/// dragged. The keyboard operates the current track as in a tree.
class LabelColumn : public TippedWidget {
    Q_OBJECT
  public:
    static constexpr int minWidthPx = 96;
    static constexpr int maxWidthPx = 640;

    explicit LabelColumn(TimelineState& state, QWidget* parent = nullptr);

    /// Adds the labels of a second trace, in the spaces between its own; null for none.
    void setCompanion(TimelineState* companion);

    /// Handles a key for the current track from anywhere in the timeline: P, H, Alt+Up, Alt+Down,
    /// the menu key. Returns false for any other key.
    bool pressTrackKey(const QKeyEvent& event);

    /// Highlights the label of a track for a short time.
    void flash(const TimelineState& state, uint32_t track);

    /// Paints the labels into `size` logical pixels at (0, 0).
    static void paint(QPainter& painter, const TimelineState& state, QSize size, const QFont& font,
                      const LabelMarks& marks = {});

  signals:
    void widthDragged(int width);
    void rowHeightChosen(lanescope::views::RowHeight height);

  protected:
    bool event(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent*) override { update(); }
    void leaveEvent(QEvent*) override { hover({-1, -1}); }

  private:
    /// A row and its timeline; the row is null if there is none.
    struct Place {
        TimelineState* state = nullptr;
        const LayoutRow* row = nullptr;
    };
    bool isOwnKey(const QKeyEvent& event) const;
    bool isOnEdge(QPoint position) const;
    Place placeUnder(QPoint position) const;
    bool isOnPin(const Place& place, QPoint position) const;
    /// Returns the state that keys apply to: the companion's if it has the only current track.
    TimelineState& active() const;
    void watch(const TimelineState& state);
    LabelMarks marksOf(const TimelineState* state) const;
    void hover(QPoint position);
    void dragTo(QPoint position);
    void endDrag(bool isDropped);
    void openMenu(TimelineState& state, uint32_t track, QPoint globalPosition);

    enum class Gesture { None, Resize, Undecided, Move };

    TimelineState& state_;
    QPointer<TimelineState> companion_;
    TimelineState* hoveredState_ = nullptr;
    uint32_t hoveredTrack_ = noIndex;
    bool isPinHovered_ = false;
    Gesture gesture_ = Gesture::None;
    QPoint pressedAt_;
    TimelineState* draggedState_ = nullptr;
    uint32_t draggedTrack_ = noIndex;
    uint32_t dropSibling_ = noIndex;
    std::optional<int> dropY_;
    const TimelineState* flashedState_ = nullptr;
    uint32_t flashedTrack_ = noIndex;
    int wheelRest_ = 0;  // angle not yet converted to whole pixels
};

}  // namespace lanescope::views
