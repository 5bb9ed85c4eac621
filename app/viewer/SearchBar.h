// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

#include "views/theme/Theme.h"

class QAction;
class QLabel;
class QLineEdit;
class QTimer;
class QToolButton;

namespace lanescope::viewer {

class HitNavigator;

/// The search box: finds while typing, Enter and Shift+Enter go to the next and previous hit,
/// Escape clears and returns the focus.
class SearchBar : public QWidget {
    Q_OBJECT
  public:
    explicit SearchBar(QWidget* parent = nullptr);

    /// Sets the search that the box controls; null for none. Shows that document's own search.
    void setNavigator(HitNavigator* navigator);
    void setTheme(const views::Theme& theme);
    /// Sets the keyboard focus to the box and selects its text.
    void activate();
    QLineEdit& edit() const { return *edit_; }
    /// Returns, for example, "3 of 120", "no hits", or the error of an expression; empty without a search.
    QString countText() const;
    /// In a narrow window the box shrinks first, to half of its preferred width, then the count.
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  public slots:
    void next();
    void previous();

  signals:
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void searchNow();
    void showSearch();
    void updateCount();
    void showCount();
    int minCountWidth() const;
    QString describeCount() const;

    QPointer<HitNavigator> navigator_;
    QLineEdit* edit_;
    QAction* clear_;  // The style's own button is invisible on a dark background.
    QToolButton* expression_;
    QLabel* count_;
    QString countText_;  ///< The full text; the label elides it.
    QToolButton* previous_;
    QToolButton* next_;
    QTimer* delay_;
};

}  // namespace lanescope::viewer
