// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "views/compare/ComparedRuns.h"

namespace lanescope::views {

class LatestJob;

/// Sums up and compares runs off the GUI thread; only the newest comparison asked for is published.
/// Construct, start and destroy on the GUI thread.
class ComparisonJob : public QObject {
    Q_OBJECT
  public:
    struct Run {
        TracePtr trace;
        StepSelection selection;
    };

    explicit ComparisonJob(QObject* parent = nullptr);
    ~ComparisonJob() override;

    /// Makes void what is running. Summaries of runs that were summed up like that before are kept.
    void start(const Run& baseline, const std::vector<Run>& candidates);
    /// The same of two programs by several runs a side, judged with the run as the unit. The runs
    /// of these numbers are those on the screen.
    void startPrograms(const std::vector<Run>& baseline, const std::vector<Run>& candidate,
                       size_t shownBaseline, size_t shownCandidate);
    /// Stops as soon as the work looks up; nothing is published.
    void cancel();
    bool isRunning() const;

  signals:
    /// `fraction` in [0, 1].
    void progressed(double fraction);
    void compared(lanescope::views::ComparedRunsPtr runs);
    /// Why nothing could be compared.
    void failed(const QString& sentence);
    /// Whatever came of it.
    void finished();

  private:
    using Compare = std::function<Result<ComparedRunsPtr>(const ComparedRunsPtr& known,
                                                          const compare::SummaryProgress&)>;
    void start(const Compare& compare);

    LatestJob* job_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
    ComparedRunsPtr last_;
};

}  // namespace lanescope::views
