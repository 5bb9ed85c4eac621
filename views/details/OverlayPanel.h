// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QRect>
#include <optional>

class QStackedWidget;
class QToolButton;

namespace lanescope::views {

/// A panel over one edge of an area of its parent, for details of a selection. It covers content instead of moving it,
/// is as high as its text and as wide as the user drags it. GUI thread.
class OverlayPanel : public QFrame {
    Q_OBJECT
  public:
    explicit OverlayPanel(QWidget* parent);

    /// Adds a page with a `FactSheet`. Takes ownership.
    void addPage(QWidget* page);
    void setPage(int index);
    /// Sets the area that the panel may cover, in coordinates of the parent.
    void setArea(QRect area);
    /// Shows the panel at the edge where it covers neither place, in pixels from the left of the parent. The pointer
    /// has precedence over the selected place. Without a need it stays at its edge.
    void showNextTo(std::optional<int> pointerX, std::optional<int> placeX);

    bool isAtLeft() const { return isAtLeft_; }
    /// Returns the width chosen by the user, else 0.
    int chosenWidth() const { return chosenWidth_; }
    void setChosenWidth(int width);

  signals:
    void closed();
    /// Emitted after it was shown, hidden, moved or resized.
    void placed();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    int wantedWidth() const;
    QRect placeAt(bool isAtLeft) const;
    bool isOnGrip(QPoint position) const;
    void fit();

    QStackedWidget* pages_;
    QToolButton* close_;
    QRect area_;
    int chosenWidth_ = 0;
    bool isAtLeft_ = false;
    bool isFitting_ = false;
    bool isResizing_ = false;
};

}  // namespace lanescope::views
