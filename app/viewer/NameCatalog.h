// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <memory>

#include "app/viewer/FinderEntry.h"
#include "model/trace/Trace.h"

namespace lanescope::views {
class LatestJob;
}

namespace lanescope::viewer {

/// The distinct names of kernels, NVTX ranges and CUDA API calls of a trace, gathered once off the
/// GUI thread. O(events) the first time.
class NameCatalog : public QObject {
    Q_OBJECT
  public:
    using Names = std::shared_ptr<const FinderNames>;

    explicit NameCatalog(QObject* parent = nullptr);

    /// Calls `use` on the GUI thread: at once if the names are known, else later, unless another
    /// trace is asked for before.
    void request(const TracePtr& trace, std::function<void(const Names&)> use);
    bool isGathering() const;

  private:
    std::weak_ptr<const Trace> trace_;
    Names names_;
    views::LatestJob* job_;
};

/// Each name once, with the first of the kinds that bears it. O(events); any thread.
FinderNames distinctNames(const Trace& trace);

}  // namespace lanescope::viewer
