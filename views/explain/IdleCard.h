// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QWidget>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "model/analysis/IdleGaps.h"
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
    using Place = analysis::IdleGaps::Place;

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
    const std::shared_ptr<const analysis::IdleGaps>& gaps() const { return gaps_; }
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
                 std::vector<analysis::StepParts>& columns) const;
    /// How it is marked on the tracks of its GPU.
    GapMark markOf(Place place) const;

  signals:
    /// The gaps are known, or are not going to be.
    void found();

  private:
    std::optional<uint32_t> gpuOf(uint32_t track) const;

    TracePtr trace_;
    Theme theme_ = Theme::light();
    std::shared_ptr<const analysis::IdleGaps> gaps_;
    bool isAsked_ = false;
    LatestJob* job_;
    std::shared_ptr<std::atomic<bool>> isCancelled_;
};

/// "launch-bound idle: outside CUDA calls on the main thread, in backward".
QString causeText(const analysis::IdleCause& cause);

class FactSheet;

/// What is known of a time in which a GPU did nothing: why, what came before and after, which
/// thread it waited for, and how much of that there is in the run.
class IdleCard : public QWidget {
    Q_OBJECT
  public:
    explicit IdleCard(QWidget* parent = nullptr);

    /// `gaps` is of `trace`.
    void setGap(const TracePtr& trace, std::shared_ptr<const analysis::IdleGaps> gaps,
                analysis::IdleGaps::Place place);
    void setTheme(const Theme& theme);
    FactSheet& sheet() const { return *sheet_; }

  signals:
    /// The user follows a link to an event.
    void eventActivated(lanescope::EventRef event);

  private:
    void refresh();
    void addCauses(const std::vector<analysis::IdleCause>& causes, TimeRange gap);
    void addThreads(const analysis::IdleGap& gap);
    void addNeighbours(const analysis::IdleGap& gap);
    void addLink(const QString& heading, EventRef event);

    TracePtr trace_;
    std::shared_ptr<const analysis::IdleGaps> gaps_;
    analysis::IdleGaps::Place place_;
    Theme theme_ = Theme::light();
    FactSheet* sheet_;
};

}  // namespace lanescope::views
