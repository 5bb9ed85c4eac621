// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>
#include <QPointer>
#include <QToolButton>
#include <QWidget>

#include "views/timeline/TimelineState.h"

namespace lanescope::views {

/// A line above the labels to filter the tracks by name, and the number of hidden tracks with a
/// list to show them again. Escape clears the line and returns the focus.
class TrackFilterBar : public QWidget {
    Q_OBJECT
  public:
    explicit TrackFilterBar(TimelineState& state, QWidget* parent = nullptr);

    /// Lists the hidden tracks of a second trace as well; null for none. The filter applies to it
    /// through the paired rows.
    void setCompanion(TimelineState* companion);
    QLineEdit& edit() const { return *edit_; }
    QToolButton& hiddenChip() const { return *chip_; }
    /// Focuses the line and selects its text.
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
    QLineEdit* edit_ = new QLineEdit(this);
    QToolButton* chip_ = new QToolButton(this);
};

}  // namespace lanescope::views
