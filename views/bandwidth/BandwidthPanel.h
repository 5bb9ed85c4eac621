// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QWidget>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/bandwidth/BandwidthAdvice.h"
#include "views/bandwidth/BandwidthAnswer.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"

class QToolButton;
class QVBoxLayout;

namespace lanescope::views {

/// What could be better about the copies, in sentences, the greatest gain first. Each has a button
/// that shows the copy it is told by. Hidden while there is nothing to say.
class AdviceCard : public QFrame {
    Q_OBJECT
  public:
    explicit AdviceCard(QWidget* parent = nullptr);

    void setAdvice(const std::vector<BandwidthAdvice>& advice);
    void setTheme(const Theme& theme);
    /// What is on the screen, a sentence each.
    QStringList sentences() const;
    /// The button beside sentence `index`.
    QToolButton* button(int index) const;

  signals:
    void exampleActivated(lanescope::EventRef event);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void rebuild();
    void addLine(const BandwidthAdvice& advice);
    void style();

    std::vector<BandwidthAdvice> advice_;
    bool showsAll_ = false;
    Theme theme_ = Theme::light();
    QVBoxLayout* lines_;
    QWidget* page_ = nullptr;
    std::vector<QToolButton*> buttons_;
    QStringList sentences_;
};

/// Which NVTX ranges copies are summed up by: the steps that were found, one of the names in the
/// trace, or whatever the user types ('#' stands for any number).
class RangeNameChoice : public QComboBox {
    Q_OBJECT
  public:
    explicit RangeNameChoice(QWidget* parent = nullptr);

    /// The names to choose from, most frequent first. Keeps what was chosen.
    void setNames(const std::vector<std::string>& names);
    /// The name or pattern; empty for the steps.
    QString rangeName() const { return name_; }
    void setRangeName(const QString& name);

  signals:
    void rangeNameChanged();

  private:
    void takeText();

    QString name_;
    std::vector<std::string> names_;
};

}  // namespace lanescope::views

class QComboBox;
class QLabel;
class QTabWidget;
class QToolButton;

namespace lanescope::views {

class AdviceCard;
class BandwidthModel;
class CopyChart;
class RangeNameChoice;
class ReportView;
class ScopeChoice;

/// How fast memory was copied, and whether that is what the links can do: sentences where something
/// could be better, a table, and charts of the copies. Counts off the GUI thread, and only while on
/// the screen; while a range is dragged, the newest answer wins.
class BandwidthPanel : public QWidget {
    Q_OBJECT
  public:
    explicit BandwidthPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// The selected range; none counts the whole trace.
    void setRange(std::optional<TimeRange> range);
    /// What the timeline shows, in the trace's own time; counted if the user wants that.
    void setVisibleRange(TimeRange range);
    void setTheme(const Theme& theme);
    void setRows(BandwidthRows rows);
    void setChart(BandwidthChart chart);
    /// Shows the copies from one GPU to another (indices into `Trace::gpus`), until the user wants
    /// all again.
    void showPair(uint32_t gpu, uint32_t peer);

    ReportView& view() const { return *view_; }
    AdviceCard& advice() const { return *advice_; }
    CopyChart& chart(BandwidthChart chart) const { return *charts_[static_cast<size_t>(chart)]; }
    QTabWidget& chartTabs() const { return *chartTabs_; }
    QComboBox& rowsChoice() const { return *rowsChoice_; }
    RangeNameChoice& rangeNameChoice() const { return *rangeNameChoice_; }
    ScopeChoice& scopeChoice() const { return *scopeChoice_; }
    QToolButton& pairButton() const { return *pairButton_; }
    /// What is under the pointer or chosen in a chart.
    QString hint() const;
    bool isStale() const { return isStale_; }

  signals:
    /// Tables and chart belong to the trace and range set last.
    void updated();
    void nameActivated(const QString& name);
    void eventActivated(lanescope::EventRef event);
    void rangeActivated(lanescope::TimeRange range);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QWidget* makeControls();
    QWidget* makeCharts();
    void invalidate();
    /// Another time counts.
    void follow();
    void refresh(LatestJob::Older older = LatestJob::Older::Void);
    void showAnswer(const std::shared_ptr<const BandwidthAnswer>& answer, const QString& remark);
    void sayWhyEmpty(const BandwidthAnswer& answer);
    void activateRow(int row);
    BandwidthQuestion question() const;

    TracePtr trace_;
    std::shared_ptr<SharedCopyIndex> copies_;
    std::shared_ptr<const BandwidthAnswer> answer_;
    bool isStale_ = false;
    LatestJob* job_;
    AdviceCard* advice_;
    BandwidthModel* model_;
    ReportView* view_;
    QComboBox* rowsChoice_ = nullptr;
    RangeNameChoice* rangeNameChoice_ = nullptr;
    ScopeChoice* scopeChoice_ = nullptr;
    QToolButton* pairButton_ = nullptr;
    QTabWidget* chartTabs_ = nullptr;
    std::array<CopyChart*, 3> charts_{};
    QLabel* hint_ = nullptr;
};

}  // namespace lanescope::views
