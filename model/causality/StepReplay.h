// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/causality/CausalGraph.h"
#include "model/causality/Subject.h"
#include "model/causality/buildGraph.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

/// A change of a program.
struct Change {
    Subject subject = Subject::Kernel;
    /// Text or pattern ('*' matches any text), family, kind, line or rank; empty for all.
    std::string name;
    double factor = 1;       ///< Factor for its time.
    bool isRemoved = false;  ///< Also without its waits.
    int64_t addedNs = 0;     ///< Added to each of its calls. For a line also to the calls below it.
    bool operator==(const Change&) const = default;

    /// Returns "kernel:gemm=0.5", "no loader", "launch+20 us".
    std::string text() const;
    /// Returns "kernel:gemm", without the change.
    std::string partText() const;
};

/// Parses "kernel:gemm=0.5" or "nccl=0".
Result<Change> parseScale(std::string_view text);
/// Parses "loader" or "line:train.py:212" as a removal.
Result<Change> parseRemoval(std::string_view text);
/// Parses "launch=20us" as time added to each call: of launches, waits, allocations, a line or a rank. At most
/// `maxAddedNs`.
Result<Change> parseAddition(std::string_view text);
inline constexpr int64_t maxAddedNs = 100'000'000;

/// Returns the scale of each group of a graph after all changes, and the number of groups that each selects.
struct Scales {
    std::vector<Scale> ofGroup;
    std::vector<size_t> selected;                     ///< By change.
    std::vector<std::set<std::string_view>> kernels;  ///< By change: short names of its kernels, in `Trace::strings`.
};
Scales scalesOf(const Trace& trace, const CausalGraph& graph, std::span<const Change> changes);

/// Steps of a process on a GPU, in order and without overlaps.
struct ReplayedWorker {
    uint32_t process = 0;
    uint32_t gpu = 0;  ///< Index into `Trace::gpus`.
    std::vector<TimeRange> steps;
};

/// Forecast of the mean step after changes. Times are nanoseconds.
struct Forecast {
    double recordedNs = 0;  ///< Mean step of the recording.
    double stepNs = 0;      ///< Mean step after the changes.
    double marginNs = 0;    ///< Half of its interval: 95 % by the spread of the steps, and the replay's error.
    double savedNs() const { return recordedNs - stepNs; }
    bool operator==(const Forecast&) const = default;
};

/// Effect of a part's own time on the step.
struct Slope {
    Change part;           ///< Without a change.
    double ownNs = 0;      ///< Time of the part per step, also where others cover it.
    double savedNs = 0;    ///< Saving of the mean step with 10 % less of it.
    double removedNs = 0;  ///< Saving without it, waits for it included.
    /// Returns the saving of the step per time saved in the part: 0 for none, 1 for all of it.
    double slope() const { return ownNs > 0 ? savedNs / (0.1 * ownNs) : 0; }
};

/// Time of a critical path in one kind of part.
struct PathShare {
    uint32_t group = 0;             ///< Index into `CausalGraph::groups`.
    std::optional<EdgeKind> delay;  ///< Delay of an edge to such a node; nullopt for the node itself.
    int64_t ns = 0;
    int64_t count = 0;
};

/// Part of a critical path, where it was recorded.
struct PathPiece {
    NodeGroup group;
    EventRef event;             ///< Call or work; invalid for host code and batches.
    uint32_t thread = noIndex;  ///< Of calls and host code; `noIndex` for others, and where unknown.
    TimeRange range;
};

/// The replay of a run's steps by their causes. Refers to the trace. Immutable; any thread.
class StepReplay {
  public:
    /// Replays at most `maxEvents` calls and pieces of work, from the middle of the steps. O(n log n).
    StepReplay(const CausalInput& input, const ReplayedWorker& worker, size_t maxEvents = defaultMaxEvents);
    static constexpr size_t defaultMaxEvents = 2'000'000;
    /// Maximum share of the step without a known cause.
    static constexpr double maxUnexplained = 0.02;

    size_t stepCount() const { return steps_.size(); }
    /// Returns "9 of 10 steps": a step after a pause is not replayed, nor are those beyond `maxEvents`.
    std::string stepsText() const;
    double recordedNs() const { return recordedNs_; }
    /// Returns the relative difference of the replayed mean step from the recorded one.
    double error() const { return error_; }
    /// Returns the share of the critical path in which a thread waits for an unknown reason.
    double unknownShare() const { return unknownShare_; }
    /// Returns the share of the step that the recorded causes do not explain.
    double unexplained() const { return std::abs(error_) + unknownShare_; }
    /// Returns a sentence about why no forecast is made; empty if forecasts are made.
    std::string refusal() const;
    /// Returns the forecast; its interval has no meaning if forecasts are refused. O(nodes).
    Forecast forecast(std::span<const Change> changes) const;
    /// Returns the parts with at least a hundredth of the step, and their effect, largest first, at most `maxSlopes`.
    /// O(nodes).
    std::vector<Slope> slopes() const;
    static constexpr size_t maxSlopes = 24;
    /// Returns the times of the critical path from the first step to the last, largest first.
    const std::vector<PathShare>& path() const { return path_; }
    /// Returns the same path by time, without delays; a piece ends where its effect starts. O(nodes).
    std::vector<PathPiece> pathPieces() const;
    const CausalGraph& graph() const { return graph_; }
    TimeRange window() const { return window_; }

  private:
    struct Step {
        CausalGraph::Node before, last;  ///< Last work before the step, and its own last work.
    };
    void findPath();
    size_t firstForecastStep() const;

    const Trace& trace_;
    size_t selectedSteps_;
    TimeRange window_;
    CausalGraph graph_;
    std::vector<Step> steps_;
    std::vector<int64_t> unchangedNs_;  ///< Ends in the replay of the unchanged program.
    std::vector<PathShare> path_;
    double recordedNs_ = 0, error_ = 0, unknownShare_ = 0;
};

}  // namespace lanescope::causality
