// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QRect>
#include <QString>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/flame/makeFlame.h"
#include "views/theme/Theme.h"
#include "views/timeline/HoverTip.h"

namespace lanescope::views {

// Texts about the frames of a flame graph. Any thread.

/// Returns the time of a frame and its share of the tree: "12.3 ms, 4.5 %".
QString timeOf(const FlameTree& tree, uint32_t node);
/// Returns the lines of the card: kind, time, shares of the tree and of the shown part, self time.
QString detailOf(const FlameTree& tree, uint32_t node, uint32_t root);
/// Returns the frame and its ancestors, innermost first, one per line, then its times: for the clipboard.
QString stackOf(const FlameTree& tree, uint32_t node);
/// Returns, for example, "3 frames, 12.3 ms, 4.5 % of GPU time".
QString textOf(const FlameTree& tree, const FlameMatches& matches);
/// Returns the search text that finds a frame's events on a timeline: `line:train.py:212`,
/// `function:forward`, the name of a kernel. Empty if none does.
QString searchFor(const Trace& trace, const FlameTree& tree, uint32_t node, bool isByLine);

/// The places of a tree's frames on the screen: a row per depth, `root` at the top over the whole width.
struct FlamePlaces {
    const FlameTree* tree = nullptr;
    uint32_t root = 0;
    int width = 0;      ///< Width of `root` in pixels.
    int rowHeight = 0;  ///< In pixels.

    /// Returns the frames of a depth within `root`, by start. O(log n).
    std::span<const uint32_t> row(uint32_t depth) const;
    /// Returns the rectangle of a frame within `root`; at least one pixel wide.
    QRect rectOf(uint32_t node) const;
    /// Returns the pixel of a time on the axis of `FlameTree::Node::startNs`.
    int xOf(int64_t ns) const;
    /// Returns the deepest frame that covers this pixel, the longest of several; `noIndex` for none.
    uint32_t frameAt(QPoint position) const;
};

/// A drawn frame: a single one, or several that share its pixel.
struct DrawnFrame {
    uint32_t node = 0;  ///< The first to start, if several share the pixel.
    int x = 0, width = 0;
    bool isSeveral = false;
};

/// Returns the drawn frames of a row: at most one per pixel, so that the cost does not grow with the tree. Each pixel
/// shows all frames at least as wide; narrower ones share one. O(width * log n).
std::vector<DrawnFrame> drawnFrames(const FlamePlaces& places, uint32_t depth);

using FlameTreePtr = std::shared_ptr<const FlameTree>;

/// A flame graph from the top down: frames as wide as their time. A click or Enter zooms a frame to
/// the whole width; Esc or Backspace goes to its parent; arrows move between frames. The cost of
/// drawing does not depend on the tree size, and the picture is cached.
class FlameChart : public QAbstractScrollArea {
    Q_OBJECT
  public:
    explicit FlameChart(QWidget* parent = nullptr);

    /// Null for none. Stays at the frame of the same path or its closest remaining ancestor. The
    /// first tree is shown from its first branch.
    void setTree(FlameTreePtr tree);
    const FlameTreePtr& tree() const { return tree_; }
    void setTheme(const Theme& theme);
    /// Sets the matches, made for this tree; empty shows all frames alike.
    void setMatches(FlameMatches matches);

    /// Returns the frame over the whole width; 0 = all.
    uint32_t root() const { return root_; }
    void zoomTo(uint32_t node);
    /// Shows the parent of the root frame; returns false if all is shown already.
    bool goUp();
    /// Returns the frame of the keyboard cursor; `noIndex` for none.
    uint32_t current() const { return current_; }
    void setCurrent(uint32_t node);
    /// Returns the rectangle in the viewport.
    QRect rectOf(uint32_t node) const;
    uint32_t frameAt(QPoint position) const;
    const HoverTip& card() const { return card_; }

    QSize minimumSizeHint() const override { return {240, 60}; }
    QSize sizeHint() const override { return {900, 240}; }

  signals:
    /// Emitted when another frame has the whole width.
    void zoomed();
    void menuRequested(quint32 node, QPoint globalPosition);
    void copyRequested();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent*) override { viewport()->update(); }
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

  private:
    int rowHeight() const { return fontMetrics().height() + 4; }
    FlamePlaces places() const { return {tree_.get(), root_, viewport()->width(), rowHeight()}; }
    uint32_t deepest() const;
    void updateScrollBar();
    void redraw();
    void showTip(uint32_t node, QPoint anchor);
    void stepInRow(int direction);
    void stepTo(uint32_t node);

    FlameTreePtr tree_;
    FlameMatches matches_;
    Theme theme_ = Theme::light();
    uint32_t root_ = 0;
    uint32_t current_ = noIndex, hovered_ = noIndex;
    HoverTip card_;
    QPixmap picture_;  ///< Without marks and card; null if out of date.
};

}  // namespace lanescope::views
