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
/// Escape clears and gives the keyboard back.
class SearchBar : public QWidget {
    Q_OBJECT
  public:
    explicit SearchBar(QWidget* parent = nullptr);

    /// What the box steers from now on; null for none. Shows that document's own search.
    void setNavigator(HitNavigator* navigator);
    void setTheme(const views::Theme& theme);
    /// Puts the keyboard into the box and selects its text.
    void activate();
    QLineEdit& edit() const { return *edit_; }
    /// By regular expression, or else by a part of the name.
    QToolButton& expression() const { return *expression_; }
    /// "3 of 120", "no hits", what is wrong with an expression; empty without a search.
    QString countText() const;
    /// In a narrow window the box gives way, to the half of what it wants, and then the count.
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
    int leastCount() const;
    QString describeCount() const;

    QPointer<HitNavigator> navigator_;
    QLineEdit* edit_;
    QAction* clear_;  // The style's own button cannot be seen on a dark ground.
    QToolButton* expression_;
    QLabel* count_;
    QString countText_;  ///< Whole, where the label shows as much as it has room for.
    QToolButton* previous_;
    QToolButton* next_;
    QTimer* delay_;
};

}  // namespace lanescope::viewer
