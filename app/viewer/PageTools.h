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

namespace lanescope {

class AppSettings;
class EventsPanel;
class MarkStore;
class MarksPanel;
class NotesKeeper;
class ReportView;
class SqlPanel;
class TimelineMarks;
class TimelineView;

/// What works beside one timeline: the table of events in view, the SQL page, and the marks.
class PageTools : public QObject {
    Q_OBJECT

  public:
    /// Adds its tabs to `tables` before `before`. All outlive this.
    PageTools(TracePtr trace, TimelineView& timeline, QTabWidget& tables, QWidget* before,
              QWidget* parent);
    ~PageTools() override;

    /// These make the panel if nobody has looked at it.
    EventsPanel& events() const;
    SqlPanel& sql() const;
    MarksPanel& marksPanel() const;
    // The tabs that hold them.
    LazyTab& eventsTab() const;
    LazyTab& sqlTab() const;
    LazyTab& marksTab() const;
    MarkStore& markStore() const { return *store_; }
    TimelineMarks& marks() const { return *marks_; }
    NotesKeeper& keeper() const { return *keeper_; }

    /// The marks, for the finder.
    std::vector<FinderEntry> markEntries() const;
    /// The trace has become another one, with more in it.
    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    /// Marks are still being read or written.
    bool isBusy() const;
    void restore(const AppSettings& settings);
    void store(AppSettings& settings) const;

  private:
    /// While the trace is being recorded it has another name.
    std::filesystem::path fileToAsk() const;
    EventsPanel* makeEvents();
    SqlPanel* makeSql();
    MarksPanel* makeMarks();
    void addTabs(QWidget* before);
    void connectMarks();
    TimeRange visibleRange() const;
    void showRemark(const QString& text, bool isTrouble);
    void showRange(TimeRange range);
    void saveEvents();
    void updateTitles();

    TracePtr trace_;
    TimelineView& timeline_;
    QTabWidget& tables_;
    PanelTab<EventsPanel>* events_;
    PanelTab<SqlPanel>* sql_;
    PanelTab<MarksPanel>* marksPanel_;
    MarkStore* store_;
    TimelineMarks* marks_;
    NotesKeeper* keeper_;
    // For panels that are still to be made.
    QStringList queries_;
    Theme theme_ = Theme::light();
    QString remark_;
    bool isRemarkTrouble_ = false;
};

}  // namespace lanescope
