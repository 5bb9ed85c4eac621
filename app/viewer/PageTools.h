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

/// The tools next to one timeline: the table of visible events, the events of one name, the SQL
/// page, and the marks.
class PageTools : public QObject {
    Q_OBJECT

  public:
    /// Adds its tabs to `tables` before `before`. All outlive this.
    PageTools(TracePtr trace, views::TimelineView& timeline, QTabWidget& tables, QWidget* before,
              QWidget* parent);
    ~PageTools() override;

    /// These return the panel; they create it if necessary.
    views::EventsPanel& events() const;
    views::SqlPanel& sql() const;
    views::MarksPanel& marksPanel() const;
    views::NamePanel& name() const;
    // The tabs of these panels.
    views::LazyTab& eventsTab() const;
    views::LazyTab& sqlTab() const;
    views::LazyTab& marksTab() const;
    views::LazyTab& nameTab() const;
    views::MarkStore& markStore() const { return *store_; }
    views::TimelineMarks& marks() const { return *marks_; }
    NotesKeeper& keeper() const { return *keeper_; }

    /// Returns the marks for the finder.
    std::vector<FinderEntry> markEntries() const;
    /// Replaces the trace by a longer one.
    void setTrace(TracePtr trace);
    void setTheme(const views::Theme& theme);
    /// Returns true while marks are loaded or saved.
    bool isBusy() const;
    void restore(const AppSettings& settings);
    void store(AppSettings& settings) const;

  private:
    /// Returns the file for SQL; it has another name while the trace is being recorded.
    std::filesystem::path queryFile() const;
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
    // For panels that are not created yet.
    QStringList queries_;
    views::Theme theme_ = views::Theme::light();
    QString remark_;
    bool isRemarkTrouble_ = false;
};

}  // namespace lanescope::viewer
