// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSplitter>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/tracePanels.h"
#include "model/trace/Trace.h"
#include "views/details/DetailsPanel.h"
#include "views/details/WarningPanel.h"
#include "views/explain/ExplainJob.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

class LiveBar;
class LiveFollower;
class PageMarks;
class RemoteKeeper;
class RunGuide;

/// One trace: its timeline, the facts of the selected event on a panel over it, and tables underneath
/// that follow the selected range.
class TracePage : public DocumentPage {
    Q_OBJECT
  public:
    /// `known` is the explained run if it is available.
    explicit TracePage(TracePtr trace, views::ExplainedRunPtr known = {}, QWidget* parent = nullptr);

    const TracePtr& trace() const { return trace_; }
    views::TimelineView& timeline() const { return *timeline_; }
    TraceTables& tables() const { return *tables_; }
    PageMarks& marks() const { return *marks_; }
    RunGuide& guide() const { return *guide_; }
    /// Shows more of the same trace; view and selection stay.
    void updateTrace(TracePtr trace);
    /// Shows the traces of `follower` until the recording ends. Takes ownership.
    void follow(LiveFollower* follower);
    /// Shows a trace on another machine that is being recorded there, until `endFollowing`.
    void startFollowing();
    void endFollowing(const QString& sentence);
    /// Returns null for a trace on this machine.
    RemoteKeeper* remote() const { return remote_; }
    /// Returns null unless the trace is, or was until now, being recorded.
    LiveBar* liveBar() const { return liveBar_; }
    /// Returns the SQL queries of earlier pages, the latest first.
    const QStringList& queries() const { return queries_; }
    /// Brings a panel, by the name of its kind, to the front and shows the tables.
    void showPanel(const QString& name) { tableCommands_->show(&tables_->tab(name)); }
    /// Searches for `name` and shows the first hit.
    void showName(const QString& name);

    QString title() const override;
    std::vector<views::TimelineView*> timelines() const override { return {timeline_}; }
    HitNavigator& hits() const { return *hits_; }
    HitNavigator* navigator() const override { return hits_; }
    views::ReportView* currentTable() const override;
    QList<QAction*> commands() const override;
    std::vector<FinderEntry> places() const override;
    void setTheme(const views::Theme& theme) override;
    void setDetailsVisible(bool isVisible) override;
    void setTablesVisible(bool isVisible) override { tables_->setVisible(isVisible); }
    bool isBusy() const override;
    void restoreLayout(const AppSettings& settings) override;
    void storeLayout(AppSettings& settings) const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void arrange();
    void updateDetails();
    /// Keeps the panel over the tracks, and zooming outside of it.
    void placeDetails();
    void shareHeight();
    void connectParts();
    void connectTables();
    void showWarnings();
    /// Passes the explained run, or null, to the tables.
    void showRun();
    void showVisible() { tables_->setVisibleRange(timeline_->state().range().visible()); }
    void watchIndex();

    TracePtr trace_;
    views::TimelineView* timeline_ = new views::TimelineView(this);
    HitNavigator* hits_ = new HitNavigator({timeline_}, this);
    views::WarningBar* healthBar_ = new views::WarningBar(this);
    views::DetailsPanel* details_ = new views::DetailsPanel(this);
    TraceTables* tables_ = new TraceTables(this);
    PageMarks* marks_ = nullptr;
    RunGuide* guide_ = nullptr;
    TableCommands* tableCommands_ = nullptr;
    QStringList queries_;
    QAction* copyEvidence_ = nullptr;
    LiveBar* liveBar_ = nullptr;
    RemoteKeeper* remote_ = nullptr;
    bool hasDetails_ = true;
    bool hasOwnSizes_ = false;
    QWidget* upper_ = new QWidget(this);                              ///< The timeline below the strip of steps.
    views::OverlayPanel* overlay_ = new views::OverlayPanel(upper_);  ///< Details of the selected event or idle gap.
    QSplitter* whole_ = new QSplitter(Qt::Vertical, this);
    views::PageArea* area_ = nullptr;
};

/// Copies the evidence to the clipboard with a picture of the timeline: as text, as picture, and as
/// both in HTML, for any receiving program.
void copyEvidence(TracePage& page);

}  // namespace lanescope::viewer
