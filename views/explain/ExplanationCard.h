// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QString>
#include <QWidget>
#include <set>
#include <string>
#include <vector>

#include "views/explain/ExplainJob.h"
#include "views/theme/Theme.h"

namespace lanescope::views {

/// What a program does again and again, where nobody would call that a step, such as the requests
/// of a server: how many there are, how long they take, and how much of the time its GPU is idle.
/// Empty of ranges that are called steps, and without ranges. Holds names of the trace.
QString aboutRun(const ExplainedRun& run, const explain::Explanation& explanation);

/// A finding as a link: what it could give back, and behind that its sentence as far as its lines
/// have room; the whole of it in the tool tip.
class FindingButton : public QAbstractButton {
    Q_OBJECT
  public:
    /// What it gives back, in a sentence and in few words, for where there is little room.
    struct Gain {
        QString whole, brief;
    };
    FindingButton(Gain gain, QString sentence, const QString& advice, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    const QString& gain() const { return gain_.whole; }
    const QString& sentence() const { return sentence_; }

    /// How many lines the whole sentence takes in a button of this width in pixels.
    int linesIn(int width) const;
    /// As many lines as it is high; one, unless told otherwise.
    void setLines(int lines);
    int lines() const { return lines_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  signals:
    /// The arrow keys: 1 for the next finding, -1 for the one before.
    void neighbourAsked(int direction);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    QFont strong() const;
    int heightOf(int lines) const;
    QStringList linesOf(int width, int most) const;
    const QString& gainIn(int width) const;

    Gain gain_;
    QString sentence_;
    int lines_ = 1;
    Theme theme_ = Theme::light();
};

}  // namespace lanescope::views

class QLabel;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace lanescope::views {

class FindingButton;

/// What is wrong with a run and what to change first: the sentence of its explanation, what makes
/// it doubtful, and a line for each finding that leads to the place where it costs most.
class ExplanationCard : public QWidget {
    Q_OBJECT
  public:
    explicit ExplanationCard(QWidget* parent = nullptr);

    /// Shows nothing for null.
    void setRun(ExplainedRunPtr run);
    const ExplainedRunPtr& run() const { return run_; }
    /// Rules that are not to be told of.
    void setMuted(std::set<explain::Rule> muted);
    const std::set<explain::Rule>& muted() const { return muted_; }
    /// A doubt that stands beside the card already, and is not said again; empty if there is none.
    void setToldBeside(std::string doubt);
    void setTheme(const Theme& theme);
    /// At most so many lines of findings are seen at once, but always the whole of the first; the
    /// others are scrolled to.
    void setMostLines(int lines);

    /// Gives the keyboard to the first finding.
    void focusFirst();

    const explain::Explanation& explanation() const { return explanation_; }
    QString sentence() const;
    /// The lines, in their order.
    const std::vector<FindingButton*>& findings() const { return buttons_; }
    /// The button to the query of a finding; null if there is none.
    QToolButton* queryButton(size_t finding) const { return queries_[finding]; }
    QToolButton& closeButton() const { return *close_; }
    /// There is something to show: whoever owns this decides whether it is shown.
    bool hasContent() const { return run_ && (!run_->summary.isEmpty() || run_->ranges); }
    /// What the program does again and again, where that is not called a step; empty if it is.
    QString about() const;

  signals:
    void findingActivated(const lanescope::explain::Finding& finding);
    void queryRequested(const QString& sql);
    void mutedChanged();
    void closed();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void build();
    void refresh();
    void addLine(const explain::Finding& finding);
    void showMenu(int finding, QPoint place);
    void shareLines(bool isScrolled);
    int heightOfRow(size_t finding) const;
    void updateHeight();
    void updateColors();

    ExplainedRunPtr run_;
    explain::Explanation explanation_;
    std::set<explain::Rule> muted_;
    std::string toldBeside_;
    Theme theme_ = Theme::light();
    int mostLines_ = 3;
    QLabel* sentence_;
    QLabel* about_;
    QLabel* doubts_;
    QToolButton* close_;
    QWidget* lines_;
    QVBoxLayout* rows_;
    QScrollArea* area_;
    std::vector<FindingButton*> buttons_;
    std::vector<QToolButton*> queries_;
};

}  // namespace lanescope::views
