// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStringList>
#include <QWidget>
#include <vector>

#include "model/compare/RunComparison.h"
#include "views/compare/WaterfallChart.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"

namespace lanescope::compare {
struct StoredComparison;
}

namespace lanescope::views {

/// The answer of a comparison: caveats, then the verdict in one large sentence, then the reasons.
/// Each clause with evidence is a link, for the mouse and for Tab and Enter. Shows progress and a
/// stop button while a comparison is computed.
class HeadlinePanel : public QWidget {
    Q_OBJECT
  public:
    explicit HeadlinePanel(QWidget* parent = nullptr);

    /// The answer uses as many lines as it needs. Other sentences are elided to the width; their
    /// tool tips have the full text.
    void setAnswer(const compare::Answer& answer);
    /// Shows a sentence in place of an answer.
    void setMessage(const QString& text);
    /// Shows the bar at `fraction` of [0, 1]; below 0 hides it.
    void setProgress(double fraction);
    void setTheme(const Theme& theme);

    QString headline() const { return headlineText_; }
    QStringList cautions() const { return cautionTexts_; }
    /// Returns the headline as shown, with its line breaks.
    QString shownHeadline() const { return shownHeadline_; }
    /// Returns the reasons as shown, one per line.
    QString reasons() const { return reasons_->text(); }

  signals:
    void cancelRequested();
    /// Requests the evidence of a clause, by its index in `Answer::clauses`.
    void clauseChosen(int clause);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void updateColors();
    void updateTexts();
    QColor headlineColor() const;
    /// Returns the index of the piece with the answer, the first with evidence.
    size_t answerPiece() const;
    /// Returns the lines as rich text with a link per clause.
    QString linked(const QStringList& lines) const;

    Theme theme_ = Theme::light();
    compare::Outcome outcome_ = compare::Outcome::Nothing;
    struct Piece {
        QString text;
        bool isLink = false;
    };
    std::vector<Piece> pieces_;  ///< Pieces of `headlineText_`.
    QString headlineText_, shownHeadline_;
    QStringList cautionTexts_;
    QStringList reasonTexts_;
    QLabel* caution_ = new QLabel(this);
    QLabel* headline_ = new QLabel(this);
    QLabel* reasons_ = new QLabel(this);
    QProgressBar* progress_ = new QProgressBar(this);
    QPushButton* cancel_ = new QPushButton(tr("Stop"), this);
};

/// The answer of a comparison whose traces are still being read: the verdict and the charts, placed
/// as in `CompareView`, and a line with their origin.
class AnswerPreview : public QWidget {
    Q_OBJECT
  public:
    explicit AnswerPreview(QWidget* parent = nullptr);

    /// `candidateCount` is the number of runs compared with the baseline; `stored` is the first.
    void setComparison(const compare::StoredComparison& stored, size_t candidateCount);
    void setTheme(const Theme& theme);

    HeadlinePanel& headline() const { return *headline_; }
    StepChart& steps() const { return *steps_; }
    QString originText() const { return origin_->text(); }

  private:
    HeadlinePanel* headline_ = new HeadlinePanel(this);
    WaterfallChart* waterfall_ = new WaterfallChart(this);
    StepChart* steps_ = new StepChart(this);
    QLabel* origin_ = new PlainLabel(this);
};

}  // namespace lanescope::views
