// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <array>
#include <memory>
#include <optional>

#include "views/bandwidth/BandwidthAnswer.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"

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
