#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "model/summary/Bandwidth.h"
#include "model/summary/ReportTable.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

class QTabWidget;

namespace lanescope {

class BandwidthChart;
class LatestJob;
class ReportView;

/// How fast memory was copied, per memcpy kind and memory kind: a table for the whole trace, one
/// for the selected range while there is one, and a chart of both. Counts off the GUI thread, and
/// only while on the screen.
class BandwidthPanel : public QWidget {
    Q_OBJECT
  public:
    explicit BandwidthPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setRange(std::optional<TimeRange> range);
    void setTheme(const Theme& theme);
    ReportView& wholeView() const { return *wholeView_; }
    ReportView& selectedView() const { return *selectedView_; }
    BandwidthChart& chart() const { return *chart_; }
    bool isStale() const { return isStale_; }

  signals:
    /// Tables and chart belong to the trace and range set last.
    void updated();
    void nameActivated(const QString& name);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    /// What was counted over one stretch of time, as a table and for the chart.
    struct Counted {
        ReportTable table;
        std::vector<BandwidthRow> rows;
    };
    static Counted count(const Trace& trace, std::optional<TimeRange> range);
    void invalidate();
    void refresh();
    void showCounted(const Counted& whole, const Counted& selected);

    TracePtr trace_;
    std::optional<TimeRange> range_;
    bool isStale_ = false;
    LatestJob* job_;
    ReportView* wholeView_;
    ReportView* selectedView_;
    QTabWidget* tables_;
    BandwidthChart* chart_;
};

}  // namespace lanescope
