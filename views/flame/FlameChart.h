// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QColor>
#include <QPixmap>
#include <QRect>
#include <QString>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/flame/FlameTree.h"
#include "views/theme/Theme.h"
#include "views/timeline/HoverCard.h"

namespace lanescope::views {

// What a frame of a flame graph is told by. Any thread.

/// "12.3 ms, 4.5 %" of the time of the whole tree.
QString timeOf(const FlameTree& tree, uint32_t node);
/// The lines of the card: kind, time, shares of all and of what is shown, time of its own.
QString detailOf(const FlameTree& tree, uint32_t node, uint32_t root);
/// The frame and those around it, the innermost first, a line each, then its times: for the
/// clipboard.
QString stackOf(const FlameTree& tree, uint32_t node);
/// "3 frames, 12.3 ms, 4.5 % of GPU time".
QString textOf(const FlameTree& tree, const FlameMatches& matches);
/// What finds on a timeline what a frame stands for: `line:train.py:212`, `function:forward`, the
/// name of a kernel. Empty where nothing does.
QString searchFor(const Trace& trace, const FlameTree& tree, uint32_t node, bool isByLine);

}  // namespace lanescope::views

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

using FlameTreePtr = std::shared_ptr<const FlameTree>;

/// A flame graph from the top down: frames as wide as their time. A click or Enter lets a frame
/// take the whole width, Esc or Backspace goes up to the one around it; arrows go from frame to
/// frame. What it draws costs the same however large the tree is, and is kept until it changes.
class FlameChart : public QAbstractScrollArea {
    Q_OBJECT

  public:
    explicit FlameChart(QWidget* parent = nullptr);

    /// Null for none. Stays at the frame of the same path, or at what there still is of it; the
    /// first tree is shown from where it splits.
    void setTree(FlameTreePtr tree);
    const FlameTreePtr& tree() const { return tree_; }
    void setTheme(const Theme& theme);
    /// Made of the tree; empty shows all alike.
    void setMatches(FlameMatches matches);

    /// The frame over the whole width; 0 shows all.
    uint32_t root() const { return root_; }
    void zoomTo(uint32_t node);
    /// Shows the frame around this one; false if all is shown already.
    bool goUp();
    /// The frame that keys have come to; `noIndex` for none.
    uint32_t current() const { return current_; }
    void setCurrent(uint32_t node);
    /// In the viewport.
    QRect rectOf(uint32_t node) const;
    uint32_t frameAt(QPoint position) const;
    const HoverCard& card() const { return card_; }

    QSize minimumSizeHint() const override { return {240, 60}; }
    QSize sizeHint() const override { return {900, 240}; }

  signals:
    /// Another frame has the whole width.
    void zoomed();
    void menuWanted(quint32 node, QPoint globalPosition);
    void copyWanted();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

  private:
    int rowHeight() const;
    FlamePlaces places() const;
    uint32_t deepest() const;
    void updateScrollBar();
    void redraw();
    void showCard(uint32_t node, QPoint beside);
    void stepBeside(int direction);
    void stepTo(uint32_t node);

    FlameTreePtr tree_;
    FlameMatches matches_;
    Theme theme_ = Theme::light();
    uint32_t root_ = 0;
    uint32_t current_ = noIndex, hovered_ = noIndex;
    HoverCard card_;
    QPixmap picture_;  ///< Without marks and card; null if it is out of date.
};

}  // namespace lanescope::views
