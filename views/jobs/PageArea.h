// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

namespace lanescope::views {

/// Holds a page that needs some room. It gets all that the window has; where that is less than the
/// page needs it is scrolled, so that the smallest window cuts nothing off. Unlike a QScrollArea
/// that resizes its widget it asks for no more height than the least, also of pages with lines that
/// wrap.
class PageArea : public QScrollArea {
    Q_OBJECT
  public:
    /// Takes over `page`, which has a layout.
    explicit PageArea(QWidget* page, QWidget* parent = nullptr);

    /// Scrolls so that as much as possible of a part of the page can be seen, its top first. If all
    /// of it is seen already, nothing moves.
    void showPart(const QWidget& part);

    /// The page's.
    QSize sizeHint() const override;
    /// Almost nothing; as high as the page needs if that is only scrolled sideways.
    QSize minimumSizeHint() const override;
    /// For a page in a page, which scrolls both of them up and down.
    void setOnlySideways() { isOnlySideways_ = true; }

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fit();
    QSize sizeIn(QSize room) const;

    bool isOnlySideways_ = false;
};

}  // namespace lanescope::views
