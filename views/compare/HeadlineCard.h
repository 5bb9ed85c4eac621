// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "model/compare/RunComparison.h"
#include "views/theme/Theme.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace lanescope::views {

/// The answer of a comparison: what makes the numbers doubtful, then the verdict in one large
/// sentence, then why. Each clause of the sentence that has evidence is a link, for the mouse, and
/// for Tab and Enter. While a comparison is being made, how far it is and a way to stop it.
class HeadlineCard : public QWidget {
    Q_OBJECT
  public:
    explicit HeadlineCard(QWidget* parent = nullptr);

    /// The answer takes the lines it needs. Other sentences are cut to the width there is, and
    /// stand in full in the tool tips.
    void setAnswer(const compare::Answer& answer);
    /// A sentence in place of an answer.
    void setMessage(const QString& text);
    /// Shows the bar at `fraction` of [0, 1]; below 0 hides it.
    void setProgress(double fraction);
    void setTheme(const Theme& theme);

    /// In full.
    QString headline() const { return headlineText_; }
    QStringList cautions() const { return cautionTexts_; }
    /// As shown, in its lines.
    QString shownHeadline() const;
    /// As shown, one a line.
    QString reasons() const;
    QPushButton& cancelButton() const { return *cancel_; }

  signals:
    void cancelRequested();
    /// Its evidence is asked for; by its place in `Answer::clauses`.
    void clauseChosen(int clause);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void build();
    void updateColors();
    void updateTexts();
    QColor headlineColor() const;
    /// The lines as rich text, with a link for each clause.
    QString linked(const QStringList& lines) const;

    Theme theme_ = Theme::light();
    compare::Outcome outcome_ = compare::Outcome::Nothing;
    struct Piece {
        QString text;
        bool isLink = false;
    };
    std::vector<Piece> pieces_;  ///< Of `headlineText_`.
    QString headlineText_, shownHeadline_;
    QStringList cautionTexts_;
    QStringList reasonTexts_;
    QLabel* caution_;
    QLabel* headline_;
    QLabel* reasons_;
    QProgressBar* progress_;
    QPushButton* cancel_;
};

}  // namespace lanescope::views

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
