// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTabWidget>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/Trace.h"
#include "views/jobs/LazyTab.h"
#include "views/theme/Theme.h"

namespace lanescope {

class BandwidthPanel;
class HealthPanel;
class HitNavigator;
struct Report;
class ReportPanel;
class ReportView;
class SelectionPanel;
class TopologyPanel;

/// The tables under a timeline, a tab each. A tab that nobody looked at has no content yet; it gets
/// what was set meanwhile when it is made.
class TraceTables : public QTabWidget {
    Q_OBJECT

  public:
    /// `hits` outlives this.
    TraceTables(TracePtr trace, HitNavigator& hits, QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// The selected range.
    void setRange(std::optional<TimeRange> range);
    /// What the timeline shows, in the trace's own time.
    void setVisibleRange(TimeRange range);
    void setTheme(const Theme& theme);

    LazyTab* currentTab() const;
    LazyTab& hitTab() const;
    LazyTab& healthTab() const;

  signals:
    void nameActivated(const QString& name);
    void eventActivated(lanescope::EventRef event);
    void rangeActivated(lanescope::TimeRange range);

  private:
    ReportPanel* makeReport(const Report& report);
    /// The tab of a report by its name.
    PanelTab<ReportPanel>* tabOf(std::string_view report) const;
    SelectionPanel* makeSelection();
    BandwidthPanel* makeBandwidth();
    TopologyPanel* makeTopology();
    ReportView* makeHits();
    HealthPanel* makeHealth();
    void addTabs();
    void chooseFirst();
    void noticeHits();
    void fillHits(ReportView& view) const;
    void updateHealthTitle();

    TracePtr trace_;
    HitNavigator& navigator_;
    std::optional<TimeRange> range_;
    TimeRange visible_;
    Theme theme_ = Theme::light();
    int shownHits_ = -1;
    std::vector<std::pair<const Report*, PanelTab<ReportPanel>*>> reports_;  ///< In order of tabs.
    PanelTab<SelectionPanel>* selection_;
    PanelTab<BandwidthPanel>* bandwidth_;
    PanelTab<TopologyPanel>* topology_;
    PanelTab<ReportView>* hits_;
    PanelTab<HealthPanel>* health_;
};

}  // namespace lanescope
