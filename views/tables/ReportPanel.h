// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"

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

class QComboBox;
class QLabel;

namespace lanescope::views {

class ReportView;

/// One report of a trace, over its whole range or a selected one. Builds the report off the GUI
/// thread, and only while the panel is on the screen.
class ReportPanel : public QWidget {
    Q_OBJECT
  public:
    /// `reportName` is one of `allReports()`, as in "cuda_gpu_kern_sum".
    explicit ReportPanel(const QString& reportName, QWidget* parent = nullptr);

    /// Lets the user choose among reports, titles and names, instead of the one.
    void offer(const std::vector<std::pair<QString, QString>>& reports);
    /// Null unless there is a choice.
    QComboBox* choice() const { return choice_; }
    void setTrace(TracePtr trace);
    /// The selected range; none shows the whole trace.
    void setRange(std::optional<TimeRange> range);
    ReportView& view() const { return *view_; }
    /// A report is being built or waits for the panel to be shown.
    bool isStale() const { return isStale_; }

  signals:
    void nameActivated(const QString& name);
    /// The rows on the screen belong to the trace and range set last.
    void updated();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void invalidate();
    void refresh(LatestJob::Older older = LatestJob::Older::Void);
    void showReport(const Result<ReportTable>& report, std::optional<TimeRange> range);

    QString reportName_;
    QComboBox* choice_ = nullptr;
    TracePtr trace_;
    std::optional<TimeRange> range_;
    bool isStale_ = false;
    LatestJob* job_;
    ReportView* view_;
    QLabel* notes_;  ///< Those of the report, below it; hidden without any.
};

}  // namespace lanescope::views
