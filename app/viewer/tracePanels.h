// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QList>
#include <QObject>
#include <QTabWidget>
#include <optional>
#include <vector>

#include "model/trace/Trace.h"
#include "views/jobs/LazyTab.h"
#include "views/tables/Panel.h"
#include "views/theme/Theme.h"

namespace lanescope::viewer {

/// The panels under a timeline, one per tab. A tab gets its content, with all settings so far, when
/// first shown. Tabs without data in the trace are hidden until requested by the menu.
class TraceTables : public QTabWidget {
    Q_OBJECT
  public:
    explicit TraceTables(QWidget* parent = nullptr);
    ~TraceTables() override;

    /// Adds a tab per kind, once. The tab called `first` is in front.
    void addPanels(std::vector<views::PanelKind> kinds, TracePtr trace, const QString& first);
    void setTrace(TracePtr trace);
    void setRange(std::optional<TimeRange> range);
    /// Sets the visible range in trace time.
    void setVisibleRange(TimeRange range);
    void setEvent(EventRef event);
    void setTheme(const views::Theme& theme);
    void updateTitles();
    /// Brings a tab to the front unless the user has chosen one.
    void suggest(const QString& name);

    views::LazyTab* currentTab() const { return qobject_cast<views::LazyTab*>(currentWidget()); }
    /// Returns a tab by the name of its kind, which exists.
    views::PanelTab<views::Panel>& tab(const QString& name) const;
    /// Returns the panel of a tab; null until created.
    template <class T>
    T* panel(const QString& name) const {
        return qobject_cast<T*>(tab(name).panel());
    }
    /// Returns the panel of a tab; creates it if necessary.
    template <class T>
    T& demand(const QString& name) const {
        return *qobject_cast<T*>(&tab(name).demandPanel());
    }

  signals:
    void nameActivated(const QString& name);
    void eventActivated(lanescope::EventRef event);
    void rangeActivated(lanescope::TimeRange range);

  private:
    struct Tab {
        views::PanelKind kind;
        views::PanelTab<views::Panel>* tab;
    };

    views::Panel* make(const views::PanelKind& kind);
    /// Calls a setter of each panel that exists.
    template <class Setter, class Value>
    void setAll(Setter setter, const Value& value) {
        for (const Tab& each : tabs_)
            if (views::Panel* panel = each.tab->panel()) (panel->*setter)(value);
    }
    void removeUseless();

    TracePtr trace_;
    std::optional<TimeRange> range_;
    TimeRange visible_;
    EventRef event_;
    views::Theme theme_ = views::Theme::light();
    bool hasChosen_ = false;  ///< The user has chosen a tab.
    std::vector<Tab> tabs_;
};

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
    /// Emitted when a command brings a table to the front. The receiver makes the tables visible.
    void shown();

  private:
    void step(int direction);

    QTabWidget& tables_;
    QList<QAction*> actions_;
};

class TracePage;

/// Returns the panels under the timeline of a page, in order of their tabs. `page` outlives them.
std::vector<views::PanelKind> tracePanels(TracePage& page);

/// Returns the name of the panel in front until the steps are known. A trace of NVTX ranges only
/// must not begin with an empty table of kernels.
QString firstPanel(const Trace& trace);

}  // namespace lanescope::viewer
