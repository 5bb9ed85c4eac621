// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>
#include <QTabWidget>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace/Trace.h"
#include "views/explain/ExplainJob.h"
#include "views/jobs/LazyTab.h"
#include "views/theme/Theme.h"

namespace lanescope {
struct Report;
}
namespace lanescope::views {
class BandwidthPanel;
class FlamePanel;
class HealthPanel;
class ReportPanel;
class ReportView;
class SelectionPanel;
class StepsPanel;
class TopologyPanel;
}  // namespace lanescope::views

namespace lanescope::viewer {

class HitNavigator;

/// The tables under a timeline, a tab each. A tab that nobody looked at has no content yet; it gets
/// what was set meanwhile when it is made. Tabs of what the trace does not hold are hidden until
/// somebody asks for them by the menu.
class TraceTables : public QTabWidget {
    Q_OBJECT

  public:
    /// `hits` outlives this.
    TraceTables(TracePtr trace, HitNavigator& hits, QWidget* parent = nullptr);
    ~TraceTables() override;

    void setTrace(TracePtr trace);
    /// Shows what the trace says of its health by now.
    void showHealth();
    /// The selected range.
    void setRange(std::optional<TimeRange> range);
    /// What the timeline shows, in the trace's own time.
    void setVisibleRange(TimeRange range);
    void setTheme(const views::Theme& theme);
    /// The run, explained; null while it is not.
    void setRun(views::ExplainedRunPtr run);

    views::LazyTab* currentTab() const;
    views::LazyTab& hitTab() const;
    views::LazyTab& healthTab() const;
    views::LazyTab& stepsTab() const;
    views::LazyTab& flameTab() const;

  signals:
    void stepActivated(lanescope::explain::StepPlace place);
    void momentActivated(qint64 timeNs);
    void nameActivated(const QString& name);
    void eventActivated(lanescope::EventRef event);
    void rangeActivated(lanescope::TimeRange range);

  private:
    views::ReportPanel* makeReport(const Report& report);
    /// The tab of a report by its name.
    views::PanelTab<views::ReportPanel>* tabOf(std::string_view report) const;
    views::StepsPanel* makeSteps();
    views::SelectionPanel* makeSelection();
    views::BandwidthPanel* makeBandwidth();
    views::TopologyPanel* makeTopology();
    views::FlamePanel* makeFlame();
    views::ReportView* makeHits();
    views::HealthPanel* makeHealth();
    void addTabs();
    void hideEmpty();
    void chooseFirst();
    void noticeHits();
    void fillHits(views::ReportView& view) const;
    void updateHealthTitle();

    TracePtr trace_;
    HitNavigator& navigator_;
    std::optional<TimeRange> range_;
    TimeRange visible_;
    views::Theme theme_ = views::Theme::light();
    int shownHits_ = -1;
    bool mayOpenSteps_ = true;  ///< Nobody has chosen a table yet.
    std::vector<std::pair<const Report*, views::PanelTab<views::ReportPanel>*>>
        reports_;  ///< In order of tabs.
    views::ExplainedRunPtr run_;
    views::PanelTab<views::StepsPanel>* steps_;
    views::PanelTab<views::SelectionPanel>* selection_;
    views::PanelTab<views::BandwidthPanel>* bandwidth_;
    views::PanelTab<views::TopologyPanel>* topology_;
    views::PanelTab<views::FlamePanel>* flame_;
    views::PanelTab<views::ReportView>* hits_;
    views::PanelTab<views::HealthPanel>* health_;
};

}  // namespace lanescope::viewer

class QAction;
class QTabWidget;

namespace lanescope::viewer {

/// A command for each tab under a timeline, so that menus and the finder lead to tables as well,
/// and two that go through them. Tabs that come later get none.
class TableCommands : public QObject {
    Q_OBJECT

  public:
    /// `tables` outlives this and has its tabs.
    TableCommands(QTabWidget& tables, QObject* parent);

    const QList<QAction*>& actions() const { return actions_; }
    /// Brings a page of `tables` to the front.
    void show(QWidget* page);

  signals:
    /// A table was asked for by one of the commands; the tables may not be on the screen.
    void shown();

  private:
    void step(int direction);

    QTabWidget& tables_;
    QList<QAction*> actions_;
};

}  // namespace lanescope::viewer
