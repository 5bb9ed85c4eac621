// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <functional>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::views {
class LatestJob;
}  // namespace lanescope::views

namespace lanescope::viewer {

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

}  // namespace lanescope::viewer
