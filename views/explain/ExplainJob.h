// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <memory>

#include "model/format/Result.h"
#include "model/trace/Trace.h"
#include "views/explain/ExplainedRun.h"

namespace lanescope::views {

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
