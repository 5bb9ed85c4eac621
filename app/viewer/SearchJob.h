// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <vector>

#include "model/search/SearchHits.h"
#include "model/search/SearchQuery.h"

namespace lanescope::viewer {

/// Searches traces off the GUI thread. What is found first is told at once, how many there are so
/// far now and then, and everything at the end. A new search voids the one before. GUI thread.
class SearchJob : public QObject {
    Q_OBJECT
  public:
    /// A trace, and from when on it is searched first.
    struct Place {
        TracePtr trace;
        int64_t fromNs = 0;
    };

    explicit SearchJob(QObject* parent = nullptr);
    ~SearchJob() override;

    void start(std::vector<Place> places, SearchQuery query);
    void cancel();
    bool isRunning() const { return run_ != nullptr; }

  signals:
    /// The first hits of the first trace from its `fromNs` on, in order of start. Once a search, if
    /// there are any.
    void begun(const std::vector<lanescope::EventRef>& first);
    /// How many hits there are so far.
    void counted(qint64 count);
    /// The hits of each trace.
    void finished(const std::vector<lanescope::SearchHitsPtr>& hits);
    /// In place of `finished`: there is no memory for all hits.
    void ranOutOfMemory();

  private:
    /// One search, on its thread.
    class Run;

    std::shared_ptr<Run> run_;
};

}  // namespace lanescope::viewer
