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

/// The tables under a timeline, one per tab. A tab gets its content, with all settings so far, when
/// first shown. Tabs without data in the trace are hidden until requested by the menu.
class TraceTables : public QTabWidget {
    Q_OBJECT

  public:
    /// `hits` outlives this.
    TraceTables(TracePtr trace, HitNavigator& hits, QWidget* parent = nullptr);
    ~TraceTables() override;

    void setTrace(TracePtr trace);
    /// Updates the health notes of the trace.
    void showHealth();
    /// Sets the selected range.
    void setRange(std::optional<TimeRange> range);
    /// Sets the visible range in trace time.
    void setVisibleRange(TimeRange range);
    void setTheme(const views::Theme& theme);
    /// Sets the explained run; null until then.
    void setRun(views::ExplainedRunPtr run);

    views::LazyTab* currentTab() const;
    views::LazyTab& hitTab() const;
    views::LazyTab& healthTab() const;
    views::LazyTab& stepsTab() const;
    views::LazyTab& flameTab() const;

  signals:
    void stepActivated(lanescope::explain::StepPlace place);
    void timeActivated(qint64 timeNs);
    void nameActivated(const QString& name);
    void eventActivated(lanescope::EventRef event);
    void rangeActivated(lanescope::TimeRange range);

  private:
    views::ReportPanel* makeReport(const Report& report);
    /// Returns the tab of a report by its name.
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
    bool mayOpenSteps_ = true;  ///< The user has not chosen a table yet.
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

/// A command per tab under a timeline, so that menus and the finder lead to tables as well, and two
/// that go through them. Tabs added later get none.
class TableCommands : public QObject {
    Q_OBJECT

  public:
    /// `tables` outlives this and has its tabs.
    TableCommands(QTabWidget& tables, QObject* parent);

    const QList<QAction*>& actions() const { return actions_; }
    /// Brings a page of `tables` to the front.
    void show(QWidget* page);

  signals:
    /// Emitted when a command requested a table; the tables may be hidden.
    void shown();

  private:
    void step(int direction);

    QTabWidget& tables_;
    QList<QAction*> actions_;
};

}  // namespace lanescope::viewer
