// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QWidget>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "app/viewer/Finder.h"
#include "model/live/LiveTrace.h"
#include "model/merge/mergeTraces.h"
#include "model/trace/Trace.h"
#include "views/text/shownText.h"
#include "views/theme/Theme.h"

namespace lanescope::views {
class LatestJob;
class ReportView;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// An unobtrusive question over a document, with a button to accept, an optional second one, and
/// one to dismiss it; without answers, a sentence.
class OfferBar : public QWidget {
    Q_OBJECT
  public:
    explicit OfferBar(QWidget* parent = nullptr);
    void offer(const QString& question, const QString& answer, const QString& other = {});
    QString question() const { return label_->text(); }

  signals:
    void accepted();
    void otherAccepted();

  private:
    QLabel* label_ = new views::WrappedLabel(this);
    QPushButton* accept_ = new QPushButton(this);
    QPushButton* other_ = new QPushButton(this);
};

class AppSettings;
class HitNavigator;

/// One open document: a trace, a comparison or a report of many ranks. The interface for the
/// window's menus and search box.
class DocumentPage : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    virtual QString title() const = 0;
    /// Returns the timelines from top to bottom; empty if there are none. The first has the keyboard focus by default.
    virtual std::vector<views::TimelineView*> timelines() const { return {}; }
    /// Returns the search of the document; null if it cannot be searched.
    virtual HitNavigator* navigator() const { return nullptr; }
    /// Returns the table to export, or null if none is visible.
    virtual views::ReportView* currentTable() const { return nullptr; }
    /// Returns the commands of this document, with names and keys, for the menu Analyse.
    virtual QList<QAction*> commands() const { return {}; }
    /// Returns further places to go to by name, in addition to tracks and commands: marks, tables.
    virtual std::vector<FinderEntry> places() const { return {}; }
    virtual void setTheme(const views::Theme& theme) = 0;
    virtual void setDetailsVisible(bool /*isVisible*/) {}
    virtual void setTablesVisible(bool /*isVisible*/) {}
    /// Returns true if a visible part is still being computed.
    virtual bool isBusy() const = 0;
    /// Restores the stored sizes of the parts.
    virtual void restoreLayout(const AppSettings& settings) = 0;
    virtual void storeLayout(AppSettings& settings) const = 0;

    /// Shows a sentence above the page until it is dismissed.
    void showMessage(const QString& sentence);

  signals:
    void titleChanged();
    /// Emitted when the user requests a table; the receiver shows hidden tables.
    void tablesRequested();
};

class LoadPage;
class TracePage;

/// Keeps the window small: when work in the background has ended, returns its freed memory to the system and unloads
/// the pages of indexes that it read. The visible pages are loaded again from the page cache.
class MemoryKeeper : public QObject {
    Q_OBJECT
  public:
    /// `isBusy` returns true while any work runs, `traces` the open traces. Both are called on the GUI thread.
    MemoryKeeper(std::function<bool()> isBusy, std::function<std::vector<TracePtr>()> traces, QObject* parent);

    /// Notes work that may have ended between two checks.
    void noteWork() { wasBusy_ = true; }

  signals:
    /// Emitted when memory was released after some work.
    void released();

  private:
    void check();

    std::function<bool()> isBusy_;
    std::function<std::vector<TracePtr>()> traces_;
    views::LatestJob* job_;
    bool wasBusy_ = false;
};

/// The open documents, one per tab, and those still being loaded.
class DocumentTabs : public QTabWidget {
    Q_OBJECT
  public:
    explicit DocumentTabs(QWidget* parent = nullptr);

    /// Sets the words that replace `ssh` for traces on other machines.
    void setSsh(std::vector<std::string> words) { ssh_ = std::move(words); }
    /// Loads the file in a new tab, or follows the folder of a watch; goes to the tab that shows it if there is one.
    void openTrace(const std::filesystem::path& path);
    /// Loads two or more files and compares the first with the others in a new tab; or the first
    /// `baselineRuns` as runs of one program with the others as runs of another.
    void openComparison(const std::vector<std::filesystem::path>& files, size_t baselineRuns = 0);
    /// Loads the files as one trace, of the ranks of a job, in a new tab; `cut` selects some ranks and steps, also of
    /// one file.
    void openMerged(const std::vector<std::filesystem::path>& files, const TraceExcerpt& cut = {});
    /// Compares traces that are in memory already.
    void showComparison(TracePtr baseline, TracePtr candidate);

    /// Returns null while a file is being loaded in the current tab, or without a document.
    DocumentPage* currentDocument() const { return qobject_cast<DocumentPage*>(currentWidget()); }
    TracePage* currentTrace() const;
    std::vector<TracePage*> tracePages() const;
    std::vector<DocumentPage*> documents() const;
    /// Returns the open traces, each once, in the order of the tabs.
    std::vector<TracePtr> traces() const;
    MemoryKeeper& memory() const { return *memory_; }
    bool isLoading() const;
    void closeTab(int index);
    /// Sets the theme of all pages, and of those not yet loaded.
    void setTheme(const views::Theme& theme);

  signals:
    /// Emitted when a tab contains a complete document.
    void documentAdded(lanescope::viewer::DocumentPage* page);
    /// Emitted before the document is deleted with its tab.
    void documentClosing(lanescope::viewer::DocumentPage* page);
    void traceOpened(const QString& path);
    void comparisonOpened(const QStringList& paths);
    void loadFailed(const QString& path, const QString& sentence);

  private:
    void load(LoadPage* page);
    void followTrace(const LiveTrace& live);
    void followWatch(const std::filesystem::path& folder);
    void replace(LoadPage* page, DocumentPage* document);
    void followTitle(DocumentPage* document);

    template <class Page>
    std::vector<Page*> pages() const;

    views::Theme theme_ = views::Theme::light();
    MemoryKeeper* memory_ = nullptr;
    std::vector<std::string> ssh_;
    std::set<const QWidget*> waitingForLive_;  ///< Tabs of recordings without loaded data.
};

}  // namespace lanescope::viewer
