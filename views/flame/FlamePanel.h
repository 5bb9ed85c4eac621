// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/flame/makeFlame.h"
#include "views/flame/FlameChart.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::views {

/// Where a flame graph is zoomed to: the frames around it and itself, from the outermost on, in one
/// line. A click on one of them goes there. What has no room in the middle is left out.
class FlameTrail : public QWidget {
    Q_OBJECT

  public:
    explicit FlameTrail(QWidget* parent = nullptr);

    void setPlace(FlameTreePtr tree, uint32_t node);
    void setTheme(const Theme& theme);
    /// What is shown, as text: "all › train (train.py:10)".
    QString text() const;
    /// Where a frame stands; empty if it has no room.
    QRect rectOf(uint32_t node) const;

    QSize sizeHint() const override { return {200, fontMetrics().height() + 6}; }
    QSize minimumSizeHint() const override { return {60, fontMetrics().height() + 6}; }

  signals:
    void frameChosen(quint32 node);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;

  private:
    struct Crumb {
        uint32_t node = noIndex;  ///< `noIndex` for what is left out.
        QString text;
        QRect area;
    };
    void layOut();
    const Crumb* crumbAt(QPoint position) const;

    FlameTreePtr tree_;
    uint32_t node_ = 0;
    Theme theme_ = Theme::light();
    std::vector<Crumb> crumbs_;
};

}  // namespace lanescope::views

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QStackedLayout;
class QToolButton;

namespace lanescope::views {

class FlameTrail;
class ScopeChoice;

/// Time on GPUs as a flame graph over Python lines, functions or NVTX ranges, of the whole trace or
/// a range of it. Counts off the GUI thread, and only while on the screen. Writes no files: who has
/// it asks for what is to be written.
class FlamePanel : public QWidget {
    Q_OBJECT

  public:
    explicit FlamePanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// The selected range; none counts the whole trace.
    void setRange(std::optional<TimeRange> range);
    /// What the timeline shows, in the trace's own time; counted if the user wants that.
    void setVisibleRange(TimeRange range);
    void setTheme(const Theme& theme);
    void setBase(FlameBase base);

    FlameChart& chart() const { return *chart_; }
    FlameTrail& trail() const { return *trail_; }
    QComboBox& baseChoice() const { return *baseChoice_; }
    ScopeChoice& scopeChoice() const { return *scopeChoice_; }
    QLineEdit& searchEdit() const { return *searchEdit_; }
    /// How much is shown, or what was found.
    QString remark() const;
    /// Why nothing is shown; empty if there is something.
    QString emptyText() const;
    /// A tree is being made, or waits for the panel to be shown.
    bool isStale() const { return isStale_; }

    /// What is shown, as text for a file: a picture, or folded. Empty if nothing is.
    std::string svg() const;
    std::string folded() const;
    /// Says for a while what became of a file.
    void say(const QString& sentence);
    /// What can be done with a frame; the caller's.
    QMenu* menuFor(uint32_t node);

  signals:
    void searchWanted(const QString& text);
    /// The user asks for a file, a picture or else folded text.
    void fileWanted(bool isPicture);
    /// The tree on the screen belongs to what was set last.
    void updated();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* makeControls();
    FlameBase base() const;
    void choosePossibleBase();
    void invalidate();
    void follow();
    void refresh(LatestJob::Older older = LatestJob::Older::Void);
    void showTree(FlameTreePtr tree);
    void showWhyEmpty();
    void search();
    void showRemark();
    void copyFrame();
    void copyFolded();

    TracePtr trace_;
    Theme theme_ = Theme::light();
    bool isStale_ = false;
    LatestJob* job_;
    QComboBox* baseChoice_;
    ScopeChoice* scopeChoice_;
    QLineEdit* searchEdit_;
    std::vector<QToolButton*> outputs_;  ///< Of no use while nothing is shown.
    FlameTrail* trail_;
    QLabel* remark_;
    FlameChart* chart_;
    QLabel* empty_;
    QStackedLayout* pages_;
    FlameMatches matches_;
    bool isSearched_ = false;
};

}  // namespace lanescope::views
