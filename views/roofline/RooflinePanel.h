// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "model/text/ReportTable.h"
#include "views/roofline/RooflineChart.h"
#include "views/tables/Panel.h"

class QComboBox;
class QLabel;

namespace lanescope::views {

class LatestJob;
class ReportView;

/// Operators with known shapes as a roofline chart and as a table. Computed off the GUI thread.
class RooflinePanel : public Panel {
    Q_OBJECT
  public:
    explicit RooflinePanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setRange(std::optional<TimeRange> range) override;
    void setTheme(const Theme& theme) override;
    ReportView* table() const override { return view_; }
    bool isStale() const override { return isStale_; }

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void invalidate();
    void refresh();
    void showRoofline(RooflinePtr roofline, ReportTable table);
    void activate(size_t row);

    TracePtr trace_;
    std::optional<TimeRange> range_;
    bool isStale_ = false;
    LatestJob* job_;
    RooflineChart* chart_;
    ReportView* view_;
    QComboBox* gpu_;
    QLabel* notes_;
    RooflinePtr roofline_;
};

}  // namespace lanescope::views
