// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTabWidget>
#include <filesystem>
#include <set>
#include <vector>

#include "model/live/LiveTrace.h"
#include "model/merge/TraceCut.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope::viewer {

class DocumentPage;
class FleetPage;
class LoadPage;
class TracePage;

/// The open documents, one a tab, and those still being read.
class DocumentTabs : public QTabWidget {
    Q_OBJECT
  public:
    explicit DocumentTabs(QWidget* parent = nullptr);

    /// Reads the file in a new tab; goes to the tab that shows it if there is one.
    void openTrace(const std::filesystem::path& path);
    /// Reads the files, two or more, and compares the first with the others in a new tab; or the
    /// first `baselineRuns` as runs of one program with the others as runs of another.
    void openComparison(const std::vector<std::filesystem::path>& files, size_t baselineRuns = 0);
    /// Reads the files as one trace, of the ranks of a job, in a new tab.
    void openMerged(const std::vector<std::filesystem::path>& files);
    /// The same, of which only some ranks and steps are wanted; of one file, too.
    void openCut(const std::vector<std::filesystem::path>& files, const TraceCut& cut);
    /// Shows traces that are in memory already.
    void showTrace(TracePtr trace);
    void showComparison(TracePtr baseline, TracePtr candidate);

    /// Null while a file is being read in the current tab, or none is open.
    DocumentPage* currentDocument() const;
    TracePage* currentTrace() const;
    std::vector<TracePage*> tracePages() const;
    std::vector<DocumentPage*> documents() const;
    bool isLoading() const;
    void closeTab(int index);
    /// Of all pages, and of those whose reading is yet to begin.
    void setTheme(const views::Theme& theme);

  signals:
    /// A tab holds a finished document from now on.
    void documentAdded(lanescope::viewer::DocumentPage* page);
    /// About to go with its tab.
    void documentClosing(lanescope::viewer::DocumentPage* page);
    void traceOpened(const QString& path);
    void comparisonOpened(const QStringList& paths);
    void loadFailed(const QString& path, const QString& sentence);

  private:
    void load(LoadPage* page);
    void followTrace(const LiveTrace& live);
    void replace(LoadPage* page, DocumentPage* document);
    void followTitle(DocumentPage* document);

    template <class Page>
    std::vector<Page*> pages() const;

    views::Theme theme_ = views::Theme::light();
    std::set<const QWidget*> waitingForLive_;  ///< Tabs of recordings that nothing was read of.
};

}  // namespace lanescope::viewer
