// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>
#include <filesystem>

#include "app/viewer/FinderEntry.h"
#include "model/trace/Trace.h"
#include "views/jobs/LazyTab.h"
#include "views/theme/Theme.h"

class QTabWidget;

namespace lanescope::views {
class EventsPanel;
class MarkStore;
class MarksPanel;
class NamePanel;
class ReportView;
class SqlPanel;
class TimelineMarks;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

class AppSettings;
class NotesKeeper;

/// What works beside one timeline: the table of events in view, everything of one name, the SQL
/// page, and the marks.
class PageTools : public QObject {
    Q_OBJECT

  public:
    /// Adds its tabs to `tables` before `before`. All outlive this.
    PageTools(TracePtr trace, views::TimelineView& timeline, QTabWidget& tables, QWidget* before,
              QWidget* parent);
    ~PageTools() override;

    /// These make the panel if nobody has looked at it.
    views::EventsPanel& events() const;
    views::SqlPanel& sql() const;
    views::MarksPanel& marksPanel() const;
    views::NamePanel& name() const;
    // The tabs that hold them.
    views::LazyTab& eventsTab() const;
    views::LazyTab& sqlTab() const;
    views::LazyTab& marksTab() const;
    views::LazyTab& nameTab() const;
    views::MarkStore& markStore() const { return *store_; }
    views::TimelineMarks& marks() const { return *marks_; }
    NotesKeeper& keeper() const { return *keeper_; }

    /// The marks, for the finder.
    std::vector<FinderEntry> markEntries() const;
    /// The trace has become another one, with more in it.
    void setTrace(TracePtr trace);
    void setTheme(const views::Theme& theme);
    /// Marks are still being read or written.
    bool isBusy() const;
    void restore(const AppSettings& settings);
    void store(AppSettings& settings) const;

  private:
    /// While the trace is being recorded it has another name.
    std::filesystem::path fileToAsk() const;
    views::EventsPanel* makeEvents();
    views::SqlPanel* makeSql();
    views::MarksPanel* makeMarks();
    views::NamePanel* makeName();
    void addTabs(QWidget* before);
    void connectMarks();
    TimeRange visibleRange() const;
    void showRemark(const QString& text, bool isTrouble);
    void showRange(TimeRange range);
    void saveEvents();
    void updateTitles();

    TracePtr trace_;
    views::TimelineView& timeline_;
    QTabWidget& tables_;
    views::PanelTab<views::EventsPanel>* events_;
    views::PanelTab<views::SqlPanel>* sql_;
    views::PanelTab<views::MarksPanel>* marksPanel_;
    views::PanelTab<views::NamePanel>* name_;
    views::MarkStore* store_;
    views::TimelineMarks* marks_;
    NotesKeeper* keeper_;
    // For panels that are still to be made.
    QStringList queries_;
    views::Theme theme_ = views::Theme::light();
    QString remark_;
    bool isRemarkTrouble_ = false;
};

}  // namespace lanescope::viewer
