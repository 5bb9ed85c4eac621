// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "model/compare/IdleGaps.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"

namespace lanescope::views {

class LatestJob;

/// Tells of the empty places of GPUs' lanes why they are empty. What it takes is worked out off the
/// GUI thread when it is first asked. GUI thread.
class IdleFinder : public QObject {
    Q_OBJECT
  public:
    using Place = compare::IdleGaps::Place;

    explicit IdleFinder(QObject* parent = nullptr);
    /// Stops what is running.
    ~IdleFinder() override;

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme) { theme_ = theme; }
    /// Begins to work out all gaps, unless that was done.
    void demand();
    /// The same of a trace that is small enough for nobody to notice.
    void demandIfSmall();
    /// Null until they are known.
    const std::shared_ptr<const compare::IdleGaps>& gaps() const { return gaps_; }
    bool isBusy() const;

    /// What to tell of a place of a track; nothing of tracks that are no GPU's, and while the GPU
    /// works. O(log n).
    std::optional<EmptyPlace> placeAt(uint32_t track, int64_t timeNs);
    /// The gap there, if it is known.
    std::optional<Place> gapAt(uint32_t track, int64_t timeNs) const;
    /// The gap of a GPU at a time.
    std::optional<Place> gapOf(uint32_t gpu, int64_t timeNs) const;
    /// What a GPU did in columns of a time; false if that is not known, or several processes shared
    /// it.
    bool partsOf(uint32_t gpu, TimeRange time, size_t count,
                 std::vector<compare::StepParts>& columns) const;
    /// How it is marked on the tracks of its GPU.
    GapMark markOf(Place place) const;

  signals:
    /// The gaps are known, or are not going to be.
    void found();

  private:
    std::optional<uint32_t> gpuOf(uint32_t track) const;

    TracePtr trace_;
    Theme theme_ = Theme::light();
    std::shared_ptr<const compare::IdleGaps> gaps_;
    bool isAsked_ = false;
    LatestJob* job_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
};

/// "launch-bound idle: outside CUDA calls on the main thread, in backward".
QString causeText(const compare::IdleCause& cause);

}  // namespace lanescope::views
