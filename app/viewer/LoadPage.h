// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QWidget>
#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/compare/comparePrograms.h"
#include "model/fleet/FleetReport.h"
#include "model/format/Result.h"
#include "model/merge/TraceCut.h"
#include "model/trace/Trace.h"
#include "views/explain/ExplainJob.h"

namespace lanescope::viewer {

/// Reads one trace on a thread of its own: a file, or several files or a folder of them, which are
/// merged (`openableMerge`), or some ranks and steps of them; or a report of many ranks. Construct,
/// start and destroy on the GUI thread, where signals arrive; after `cancel` none does. Destroying
/// it cancels and waits for nothing: the thread stops at its next report of progress, and the
/// application waits for it at its own end.
class TraceLoader : public QObject {
    Q_OBJECT
  public:
    explicit TraceLoader(std::vector<std::filesystem::path> paths, QObject* parent = nullptr,
                         TraceCut cut = {});
    explicit TraceLoader(const std::filesystem::path& path, QObject* parent = nullptr)
        : TraceLoader(std::vector{path}, parent) {}
    ~TraceLoader() override;

    /// Call once.
    void start();
    void cancel();
    bool isRunning() const { return isRunning_; }
    /// The packed files of a folder that were left out, since they are there unpacked, too
    /// (`filesMeantBy`). Known when `loaded` arrives.
    const std::vector<std::filesystem::path>& leftOut() const { return leftOut_; }

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction, const QString& what);
    void loaded(lanescope::TracePtr trace);
    void reportLoaded(lanescope::fleet::FleetReportPtr report);
    /// `sentence` says what, which file, and what to do.
    void failed(const QString& sentence);

  private:
    /// What was read: one of them.
    struct Loaded {
        TracePtr trace;
        fleet::FleetReportPtr report;
    };
    static Result<Loaded> open(const std::vector<std::filesystem::path>& paths, const TraceCut& cut,
                               const LoadProgress& progress,
                               std::vector<std::filesystem::path>& leftOut);
    void finish(const Result<Loaded>& result);

    std::vector<std::filesystem::path> paths_, leftOut_;
    const TraceCut cut_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
    bool isRunning_ = false;
};

}  // namespace lanescope::viewer

class QLabel;
class QProgressBar;
class QPushButton;

namespace lanescope::views {
class AnswerPreview;
class LatestJob;
struct Theme;
}  // namespace lanescope::views

namespace lanescope::viewer {

class TraceLoader;

/// What several files become: a comparison, or one trace.
struct SeveralFiles {
    bool areOneTrace = false;
    /// Of a comparison: the first so many are runs of one program, the others of another. 0: the
    /// first is compared with each of the others.
    size_t baselineRuns = 0;
    TraceCut cut = {};  ///< What of one trace is wanted.
};

/// Stands in for a document while its traces are read: progress and a way out. If a file cannot be
/// read, the page stays and says why. For a comparison it shows the answer above the progress as
/// soon as it is known from the summaries stored in the files, if they have any.
class LoadPage : public QWidget {
    Q_OBJECT
  public:
    /// One path for a timeline, of a file or of a folder of ranks.
    explicit LoadPage(std::vector<std::filesystem::path> paths, SeveralFiles several = {},
                      QWidget* parent = nullptr);

    void start();
    /// Nothing is reported from now on.
    void cancel();
    bool isLoading() const { return isLoading_; }
    QString title() const;
    /// Why it failed; empty while it has not.
    QString errorText() const;
    const std::vector<std::filesystem::path>& paths() const { return paths_; }
    bool isWhole() const { return several_.cut.isWhole(); }
    /// 0 if each path is a program of its own.
    size_t baselineRuns() const { return several_.baselineRuns; }
    /// What the preview shows; null while it shows nothing.
    const compare::StoredComparisonPtr& storedComparison() const { return stored_; }
    /// Of one trace, what its stored summary says; null if it has none or was not read yet.
    const views::ExplainedRunPtr& storedRun() const { return storedRun_; }
    /// What was left out of folders (`TraceLoader::leftOut`), in words; empty if nothing was.
    QString leftOutText() const;
    views::AnswerPreview& preview() const { return *preview_; }
    void setTheme(const views::Theme& theme);

  signals:
    /// All traces, in the order of the paths.
    void loaded(const std::vector<lanescope::TracePtr>& traces);
    /// The file is a report of many ranks.
    void reportLoaded(lanescope::fleet::FleetReportPtr report);
    void failed(const QString& sentence);
    /// The user wants this page to go away.
    void closeRequested();
    /// The preview shows the answer from now on.
    void answered();

  private:
    void build();
    void loadNext();
    void startPreview();
    void showError(const QString& sentence);

    /// How many traces there will be.
    size_t traceCount() const { return several_.areOneTrace ? 1 : paths_.size(); }

    std::vector<std::filesystem::path> paths_, leftOut_;
    const SeveralFiles several_;
    std::vector<TracePtr> traces_;
    TraceLoader* loader_ = nullptr;
    compare::StoredComparisonPtr stored_;
    views::ExplainedRunPtr storedRun_;
    bool isLoading_ = false;
    views::LatestJob* previewJob_;
    views::AnswerPreview* preview_;
    QLabel* heading_;
    QLabel* text_;
    QProgressBar* bar_;
    QPushButton* button_;
};

}  // namespace lanescope::viewer
