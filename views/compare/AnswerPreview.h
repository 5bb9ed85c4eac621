// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/theme/Theme.h"

class QLabel;

namespace lanescope::compare {
struct StoredComparison;
}

namespace lanescope::views {

class HeadlineCard;
class StepChart;
class WaterfallChart;

/// The answer of a comparison whose traces are still being read: the verdict and the charts, where
/// `CompareView` will have them, and a line that says what they come from.
class AnswerPreview : public QWidget {
    Q_OBJECT
  public:
    explicit AnswerPreview(QWidget* parent = nullptr);

    /// `candidateCount` is how many runs are compared with the baseline; `stored` is the first.
    void setComparison(const compare::StoredComparison& stored, size_t candidateCount);
    void setTheme(const Theme& theme);

    HeadlineCard& headline() const { return *headline_; }
    WaterfallChart& waterfall() const { return *waterfall_; }
    StepChart& steps() const { return *steps_; }
    QString originText() const;

  private:
    HeadlineCard* headline_;
    WaterfallChart* waterfall_;
    StepChart* steps_;
    QLabel* origin_;
};

}  // namespace lanescope::views
