// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <memory>
#include <optional>

#include "model/analysis/RunSummary.h"
#include "model/analysis/stepRanges.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::views {

/// One explained run, as the widgets show it. Immutable.
struct ExplainedRun {
    explicit ExplainedRun(analysis::RunSummary made);

    /// Returns true if its steps are clearly steps; else the explanation describes its ranges.
    bool hasPlainSteps() const;
    /// Finds the ranges that the run repeats, and their places, in the events.
    void findRanges(const Trace& trace);
    /// Returns the range to show first: the steady steps, else ranges and GPU work, else GPU work
    /// only; nullopt if that is nearly the whole trace.
    std::optional<TimeRange> first() const { return steady ? steady : elsewhere; }

    analysis::RunSummary summary;
    explain::StepGrid grid;
    std::optional<TimeRange> steady;     ///< `explain::steadySteps`.
    std::optional<MainRanges> ranges;    ///< For a run without plain steps.
    std::optional<TimeRange> elsewhere;  ///< For a run without ranges.
};
using ExplainedRunPtr = std::shared_ptr<const ExplainedRun>;

/// Returns the run with the health notes of its trace, which was loaded since: a stored summary
/// does not contain later damage to the file. Any thread.
ExplainedRunPtr withWarningsOf(ExplainedRunPtr run, const Trace& trace);

/// Summarizes a run off the GUI thread: from the summary stored in its file, else from its events.
/// Construct, start and destroy on the GUI thread.
class ExplainJob : public QObject {
    Q_OBJECT
  public:
    explicit ExplainJob(QObject* parent = nullptr);

    /// `selection` names another unit of the run as its steps (`RunSummary::units`).
    void start(TracePtr trace, const StepSelection& selection = {});
    /// Stops the running job without a signal.
    void cancel() { job_->cancel(); }
    bool isRunning() const { return job_->isRunning(); }

  signals:
    void explained(lanescope::views::ExplainedRunPtr run);
    /// Reports why the run cannot be explained.
    void failed(const QString& sentence);

  private:
    LatestJob* job_;
};

}  // namespace lanescope::views
