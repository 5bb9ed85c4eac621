// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <memory>

#include "views/flame/paintFlame.h"
#include "views/timeline/HoverCard.h"

namespace lanescope::views {

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
