// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

#include "views/timeline/TimelineState.h"

class QLineEdit;
class QToolButton;

namespace lanescope::views {

/// Above the labels: a line to filter the tracks by name, and how many of them are hidden, with a
/// list to show them again. Escape clears the line and gives the keyboard back.
class TrackFilterBar : public QWidget {
    Q_OBJECT

  public:
    explicit TrackFilterBar(TimelineState& state, QWidget* parent = nullptr);

    /// Lists the hidden tracks of a second trace as well; null for none. The filter reaches it by
    /// way of the paired rows.
    void setCompanion(TimelineState* companion);
    QLineEdit& edit() const { return *edit_; }
    QToolButton& hiddenChip() const { return *chip_; }
    /// Puts the keyboard into the line and selects its text.
    void activate();

  signals:
    void dismissed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    void followState();
    void style();

    TimelineState& state_;
    QPointer<TimelineState> companion_;
    QLineEdit* edit_;
    QToolButton* chip_;
};

}  // namespace lanescope::views
