// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/flame/makeFlame.h"
#include "views/flame/FlameChart.h"
#include "views/tables/ReportPanel.h"
#include "views/text/shownText.h"
#include "views/theme/PaintedWidget.h"

namespace lanescope::views {

/// The path to the zoomed frame of a flame graph, outermost first, in one line. A click on a frame
/// goes there. Frames in the middle that do not fit are omitted.
class FlameTrail : public PaintedWidget {
    Q_OBJECT
  public:
    explicit FlameTrail(QWidget* parent = nullptr);

    void setPlace(FlameTreePtr tree, uint32_t node);
    /// Returns the shown text: "all › train (train.py:10)".
    QString text() const;

    QSize sizeHint() const override { return {200, fontMetrics().height() + 6}; }
    QSize minimumSizeHint() const override { return {60, fontMetrics().height() + 6}; }

  signals:
    void frameChosen(quint32 node);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent*) override { layOut(); }
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;

  private:
    struct Crumb {
        uint32_t node = noIndex;  ///< `noIndex` for omitted frames.
        QString text;
        QRect area;
    };
    void layOut();
    const Crumb* crumbAt(QPoint position) const;

    FlameTreePtr tree_;
    uint32_t node_ = 0;
    std::vector<Crumb> crumbs_;
};

/// GPU time as a flame graph over Python lines, functions or NVTX ranges, for the whole trace or a range. Counts off
/// the GUI thread and only while visible. Writes no files: the owner receives `fileRequested`.
class FlamePanel : public ScopedPanel {
    Q_OBJECT
  public:
    explicit FlamePanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setTheme(const Theme& theme) override;
    void setBase(FlameBase base) { baseChoice_->setCurrentIndex(static_cast<int>(base)); }

    /// Returns the amount shown or the number of matches.
    QString remark() const { return remark_->text(); }
    /// Returns the reason for an empty chart; empty if it has content.
    QString emptyText() const { return pages_->currentWidget() == empty_ ? empty_->text() : QString(); }

    /// Returns the chart as text for a file: a picture, or folded stacks. Empty if nothing is shown.
    std::string svg() const;
    std::string folded() const;
    /// Shows the result of a file operation for a while.
    void showMessage(const QString& sentence);
    /// Returns a menu of commands for a frame; the caller owns it.
    QMenu* menuFor(uint32_t node);

  signals:
    /// Emitted when the user requests a file: a picture, or else folded text.
    void fileRequested(bool isPicture);

  private:
    QWidget* makeControls();
    FlameBase base() const { return static_cast<FlameBase>(baseChoice_->currentIndex()); }
    void refresh(LatestJob::Older older) override;
    void showTree(FlameTreePtr tree);
    void showWhyEmpty();
    void search();
    void showRemark();
    void copyFrame();
    void copyFolded();

    Theme theme_ = Theme::light();
    QComboBox* baseChoice_;
    QLineEdit* searchEdit_;
    std::vector<QToolButton*> outputs_;  ///< Disabled while nothing is shown.
    FlameTrail* trail_ = new FlameTrail(this);
    QLabel* remark_ = new QLabel(this);
    FlameChart* chart_ = new FlameChart(this);
    QLabel* empty_ = new PlainLabel(this);
    QStackedLayout* pages_ = new QStackedLayout;
    FlameMatches matches_;
    bool isSearched_ = false;
};

}  // namespace lanescope::views
