// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "model/analysis/IdleCauses.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/timeline/EmptyPlace.h"

namespace lanescope::views {

/// Explains the empty places of GPU lanes. Computes the gaps off the GUI thread on first use. GUI thread.
class IdleFinder : public QObject {
    Q_OBJECT
  public:
    using Place = analysis::IdleGaps::Place;

    explicit IdleFinder(QObject* parent = nullptr);

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme) { theme_ = theme; }
    /// Starts to compute all gaps unless already done.
    void demand();
    /// Calls `demand` if the trace is small enough for this to be unnoticeable.
    void demandIfSmall();
    /// Returns the gaps; null until they are known.
    const std::shared_ptr<const analysis::IdleGaps>& gaps() const { return gaps_; }
    bool isBusy() const { return job_->isRunning(); }

    /// Returns the explanation of a place of a track; nullopt for tracks of no GPU and while the GPU works. O(log n).
    std::optional<EmptyPlace> placeAt(uint32_t track, int64_t timeNs);
    /// Returns the gap there if it is known.
    std::optional<Place> gapAt(uint32_t track, int64_t timeNs) const;
    std::optional<Place> gapOf(uint32_t gpu, int64_t timeNs) const;
    /// Computes the parts of a GPU's time in `count` columns. Returns false if they are unknown or
    /// several processes shared the GPU.
    bool partsOf(uint32_t gpu, TimeRange time, size_t count, std::vector<analysis::StepParts>& columns) const;
    /// Returns the mark of a gap on the tracks of its GPU.
    GapMark markOf(Place place) const;

  signals:
    /// Emitted when the gaps are known or cannot be computed.
    void found();

  private:
    std::optional<uint32_t> gpuOf(uint32_t track) const;

    TracePtr trace_;
    Theme theme_ = Theme::light();
    std::shared_ptr<const analysis::IdleGaps> gaps_;
    bool isRequested_ = false;
    LatestJob* job_;
};

/// Returns, for example, "waiting for launches: in host code (no CUDA call) on the main thread, in backward".
QString causeText(const analysis::GapCause& cause);

class FactSheet;

/// The facts of a GPU's idle time: its cause, the work before and after, the thread that it waited
/// for, and the total of this cause in the run.
class IdlePanel : public QWidget {
    Q_OBJECT
  public:
    explicit IdlePanel(QWidget* parent = nullptr);

    /// `gaps` belongs to `trace`.
    void setGap(const TracePtr& trace, std::shared_ptr<const analysis::IdleGaps> gaps, analysis::IdleGaps::Place place);
    void setTheme(const Theme& theme);

  signals:
    /// Emitted when the user follows a link to an event.
    void eventActivated(lanescope::EventRef event);

  private:
    void refresh();
    void addCauses(const std::vector<analysis::GapCause>& causes, TimeRange gap);
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
