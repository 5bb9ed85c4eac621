// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <optional>

#include "model/analysis/RunSummary.h"
#include "model/analysis/stepRanges.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::views {

/// One run, explained, as its parts on the screen show it. Immutable.
struct ExplainedRun {
    explicit ExplainedRun(analysis::RunSummary made);

    /// Its steps are stretches that anybody would call so; else there is more to say of it.
    bool hasPlainSteps() const;
    /// From the events: the ranges that such a run comes back to, and where they are.
    void lookAt(const Trace& trace);
    /// What to begin with: the steady steps, else where ranges and the work of GPUs are, else where
    /// the latter alone is; nothing if that is nearly all.
    std::optional<TimeRange> first() const { return steady ? steady : elsewhere; }

    analysis::RunSummary summary;
    explain::StepGrid grid;
    std::optional<TimeRange> steady;     ///< `explain::steadySteps`.
    std::optional<MainRanges> ranges;    ///< Of a run without plain steps.
    std::optional<TimeRange> elsewhere;  ///< Of one without any.
};
using ExplainedRunPtr = std::shared_ptr<const ExplainedRun>;

class LatestJob;

/// The run with what the health of its trace says, which was loaded since: a summary that was
/// stored before knows of no damage that befell the file. Any thread.
ExplainedRunPtr withHealthOf(ExplainedRunPtr run, const Trace& trace);

/// Sums up a run off the GUI thread: by the summary that its file has, else by its events.
/// Construct, start and destroy on the GUI thread.
class ExplainJob : public QObject {
    Q_OBJECT
  public:
    explicit ExplainJob(QObject* parent = nullptr);
    /// Stops what is running.
    ~ExplainJob() override;

    void start(TracePtr trace);
    /// Stops what is running; nothing is told.
    void cancel();
    bool isRunning() const;

  signals:
    void explained(lanescope::views::ExplainedRunPtr run);
    /// Why there is nothing to explain.
    void failed(const QString& sentence);

  private:
    LatestJob* job_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
};

}  // namespace lanescope::views
