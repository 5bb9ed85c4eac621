#pragma once

#include <QObject>
#include <filesystem>

#include "model/trace/Trace.h"

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
struct Theme;

/// What works beside one timeline: the table of events in view, the SQL page, and the marks.
class PageTools : public QObject {
    Q_OBJECT

  public:
    /// Adds its tabs to `tables` before `before`. All outlive this.
    PageTools(TracePtr trace, TimelineView& timeline, QTabWidget& tables, QWidget* before,
              QWidget* parent);
    ~PageTools() override;

    EventsPanel& events() const { return *events_; }
    SqlPanel& sql() const { return *sql_; }
    MarksPanel& marksPanel() const { return *marksPanel_; }
    MarkStore& markStore() const { return *store_; }
    TimelineMarks& marks() const { return *marks_; }
    NotesKeeper& keeper() const { return *keeper_; }

    /// The trace has become another one, with more in it.
    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    /// Something of it that is on the screen is still being computed.
    bool isBusy() const;
    void restore(const AppSettings& settings);
    void store(AppSettings& settings) const;

  private:
    /// While the trace is being recorded it has another name.
    std::filesystem::path fileToAsk() const;
    void connectEvents();
    void connectMarks();
    void showRange(TimeRange range);
    void saveEvents();
    void updateTitles();

    TracePtr trace_;
    TimelineView& timeline_;
    QTabWidget& tables_;
    EventsPanel* events_;
    SqlPanel* sql_;
    MarkStore* store_;
    MarksPanel* marksPanel_;
    TimelineMarks* marks_;
    NotesKeeper* keeper_;
};

}  // namespace lanescope
