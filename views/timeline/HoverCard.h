// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QRect>
#include <QString>

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

}  // namespace lanescope::views
