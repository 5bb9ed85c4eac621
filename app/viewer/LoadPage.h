// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QObject>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>
#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/compare/comparePrograms.h"
#include "model/fleet/FleetReport.h"
#include "model/format/Result.h"
#include "model/merge/mergeTraces.h"
#include "model/trace/Trace.h"
#include "views/compare/HeadlinePanel.h"
#include "views/explain/ExplainJob.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"

namespace lanescope::viewer {

/// Loads one trace on a separate thread: a file, several files or a folder of them, which are merged (`openableMerge`),
/// some ranks and steps of them, or a report of many ranks. Construct, start and destroy on the GUI thread, where
/// signals arrive; none arrives after `cancel`. The destructor cancels without waiting: the thread stops at its next
/// progress report, and the application waits for it at its own end.
class TraceLoader : public QObject {
    Q_OBJECT
  public:
    /// `ssh` is for traces on other machines (`RemoteSource`).
    explicit TraceLoader(std::vector<std::filesystem::path> paths, QObject* parent = nullptr, TraceExcerpt cut = {},
                         std::vector<std::string> ssh = {});
    ~TraceLoader() override;

    /// Call once.
    void start();
    void cancel();
    bool isRunning() const { return isRunning_; }
    /// Returns the skipped packed files of a folder that also contains them unpacked
    /// (`filesMeantBy`). Valid when `loaded` arrives.
    const std::vector<std::filesystem::path>& skippedFiles() const { return skipped_; }

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction, const QString& what);
    void loaded(lanescope::TracePtr trace);
    void reportLoaded(lanescope::fleet::FleetReportPtr report);
    /// `sentence` contains the problem, the file, and the remedy.
    void failed(const QString& sentence);

  private:
    /// The result: one of them.
    struct Loaded {
        TracePtr trace;
        fleet::FleetReportPtr report;
    };
    static Result<Loaded> open(const std::vector<std::filesystem::path>& paths, const TraceExcerpt& cut,
                               const std::vector<std::string>& ssh, const LoadProgress& progress,
                               std::vector<std::filesystem::path>& skippedFiles);
    void finish(const Result<Loaded>& result);

    std::vector<std::filesystem::path> paths_, skipped_;
    const TraceExcerpt cut_;
    const std::vector<std::string> ssh_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
    bool isRunning_ = false;
};

/// The treatment of several files: as a comparison, or as one trace.
struct SeveralFiles {
    bool areOneTrace = false;
    /// For a comparison: the first so many are runs of one program, the others of another. 0: the
    /// first is compared with each of the others.
    size_t baselineRuns = 0;
    TraceExcerpt cut = {};              ///< For one trace, the requested part.
    std::vector<std::string> ssh = {};  ///< `RemoteSource::ssh`.
};

/// A placeholder for a document while its traces are loaded: progress and a cancel button. If a
/// file cannot be read, the page stays and shows the error. For a comparison, shows the answer
/// above the progress as soon as it is known from the summaries stored in the files.
class LoadPage : public QWidget {
    Q_OBJECT
  public:
    /// One path per timeline, of a file or of a folder of ranks.
    explicit LoadPage(std::vector<std::filesystem::path> paths, SeveralFiles several = {}, QWidget* parent = nullptr);

    void start();
    /// Suppresses all further signals.
    void cancel();
    bool isLoading() const { return isLoading_; }
    QString title() const;
    /// Returns the error; empty for none.
    QString errorText() const { return bar_->isHidden() ? text_->text() : QString(); }
    const std::vector<std::filesystem::path>& paths() const { return paths_; }
    bool isWhole() const { return several_.cut.isWhole(); }
    /// Returns 0 if each path is a separate program.
    size_t baselineRuns() const { return several_.baselineRuns; }
    /// Returns the content of the preview; null if it shows nothing.
    const compare::StoredComparisonPtr& storedComparison() const { return stored_; }
    /// Returns the stored summary of a single trace; null if it has none or was not read yet.
    const views::ExplainedRunPtr& storedRun() const { return storedRun_; }
    /// Describes the skipped files of folders (`TraceLoader::skippedFiles`); empty for none.
    QString skippedText() const;
    views::AnswerPreview& preview() const { return *preview_; }
    void setTheme(const views::Theme& theme) { preview_->setTheme(theme); }

  signals:
    /// All traces, in the order of the paths.
    void loaded(const std::vector<lanescope::TracePtr>& traces);
    /// Emitted if the file is a report of many ranks.
    void reportLoaded(lanescope::fleet::FleetReportPtr report);
    void failed(const QString& sentence);
    /// Emitted when the user asks to close this page.
    void closeRequested();
    /// Emitted when the preview shows the answer.
    void answered();

  private:
    void loadNext();
    void startPreview();
    void showError(const QString& sentence);

    size_t traceCount() const { return several_.areOneTrace ? 1 : paths_.size(); }

    std::vector<std::filesystem::path> paths_, skipped_;
    const SeveralFiles several_;
    std::vector<TracePtr> traces_;
    TraceLoader* loader_ = nullptr;
    compare::StoredComparisonPtr stored_;
    views::ExplainedRunPtr storedRun_;
    bool isLoading_ = false;
    views::LatestJob* previewJob_ = new views::LatestJob(this);
    views::AnswerPreview* preview_ = new views::AnswerPreview(this);
    QLabel* heading_ = new QLabel(this);
    QLabel* text_ = new views::PlainLabel(this);
    QProgressBar* bar_ = new QProgressBar(this);
    QPushButton* button_ = new QPushButton(tr("Cancel"), this);
};

}  // namespace lanescope::viewer
