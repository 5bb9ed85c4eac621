// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QLabel>
#include <QScrollArea>
#include <QString>
#include <QToolButton>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "views/explain/ExplainJob.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"

class QVBoxLayout;

namespace lanescope::views {

/// A finding as a link of one line: its gain, then a few words. The tool tip has the whole sentence.
class FindingButton : public QAbstractButton {
    Q_OBJECT
  public:
    struct Text {
        QString gain;      ///< "≤ 10.6 ms (60 %)".
        QString brief;     ///< "GPU waits for launches: backward".
        QString sentence;  ///< The whole sentence.
        QString advice;
    };
    explicit FindingButton(Text text, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    /// Shows that the details of the finding are visible.
    void setOpen(bool isOpen);
    bool isOpen() const { return isOpen_; }
    const Text& text() const { return text_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

  signals:
    /// Emitted on the cursor keys: 1 for the next finding, -1 for the previous one.
    void neighbourRequested(int direction);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void enterEvent(QEnterEvent*) override { update(); }
    void leaveEvent(QEvent*) override { update(); }

  private:
    Text text_;
    bool isOpen_ = false;
    Theme theme_ = Theme::light();
};

/// The findings of a run: the sentence of its explanation, its caveats, and a line per finding that leads to the place
/// of its greatest cost. A click also opens
/// the details of the finding below its line, a second one closes them.
class ExplanationPanel : public QWidget {
    Q_OBJECT
  public:
    explicit ExplanationPanel(QWidget* parent = nullptr);

    /// Shows nothing for null.
    void setRun(ExplainedRunPtr run);
    const ExplainedRunPtr& run() const { return run_; }
    void setMuted(explain::MutedRules muted);
    const explain::MutedRules& muted() const { return muted_; }
    /// Sets a caveat that is already shown next to the card and is not repeated; empty for none.
    void setShownCaveat(std::string doubt);
    void setTheme(const Theme& theme);
    /// Limits the visible lines of findings; the others are scrolled to.
    void setMaxLines(int lines);

    void focusFirst();

    const explain::Explanation& explanation() const { return explanation_; }
    QString sentence() const;
    const std::vector<FindingButton*>& findings() const { return buttons_; }
    /// Returns the index of the finding whose details are shown; nullopt for none.
    std::optional<size_t> openFinding() const { return open_; }
    QLabel* details(size_t finding) const { return details_[finding]; }
    /// Returns the query button of a finding; null if it has no query.
    QToolButton* queryButton(size_t finding) const { return queries_[finding]; }
    /// Returns true if the card has content. The owner decides about its visibility.
    bool hasContent() const { return run_ && (!run_->summary.isEmpty() || run_->ranges); }
    /// Returns the description of what the program repeats if that is not called a step; else empty.
    QString about() const { return about_->text(); }

  signals:
    void findingActivated(const lanescope::explain::Finding& finding);
    void queryRequested(const QString& sql);
    /// Emitted on Escape: back to the view before the last finding.
    void undoRequested();
    void closed();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();
    void addLine(const explain::Finding& finding);
    void showMenu(int finding, QPoint place);
    void setOpen(std::optional<size_t> finding);
    int heightOfRow(size_t finding) const;
    void updateHeight();
    void updateColors();

    ExplainedRunPtr run_;
    explain::Explanation explanation_;
    explain::MutedRules muted_;
    std::string shownCaveat_;
    Theme theme_ = Theme::light();
    int maxLines_ = 3;
    QLabel* sentence_ = new WrappedLabel(this);
    QLabel* about_ = new WrappedLabel(this);
    QLabel* caveats_ = new WrappedLabel(this);
    QToolButton* close_ = new QToolButton(this);
    QWidget* lines_ = new QWidget;
    QVBoxLayout* rows_;
    QScrollArea* area_ = new QScrollArea(this);
    std::vector<FindingButton*> buttons_;
    std::vector<QToolButton*> queries_;
    std::vector<QLabel*> details_;
    std::optional<size_t> open_;
};

}  // namespace lanescope::views
