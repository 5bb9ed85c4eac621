// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "model/build/LoadProgress.h"
#include "model/fleet/FleetReport.h"
#include "model/format/Result.h"
#include "model/merge/TraceCut.h"
#include "model/trace/Trace.h"

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
