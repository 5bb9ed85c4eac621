// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <optional>

#include "model/format/TimeRange.h"

namespace lanescope::views {

/// The user's choice of which time a page counts: what is selected, what the timeline shows, or
/// all. Knows the ranges and says which one counts.
class ScopeChoice : public QComboBox {
    Q_OBJECT
  public:
    enum class Scope { Selected, Visible, Whole };

    explicit ScopeChoice(QWidget* parent = nullptr);

    /// Forgets what was selected, in another trace; says nothing of it.
    void reset() { selected_.reset(); }
    void setSelectedRange(std::optional<TimeRange> range);
    void setVisibleRange(TimeRange range);
    /// The range that counts; nothing for the whole trace.
    std::optional<TimeRange> counted() const;
    /// "Selected range, 25 ms from 1.2 s", "Whole trace".
    QString remark() const;

  signals:
    /// Another time counts than before.
    void countedChanged();

  private:
    Scope scope() const { return static_cast<Scope>(currentIndex()); }

    std::optional<TimeRange> selected_, visible_;
};

}  // namespace lanescope::views
