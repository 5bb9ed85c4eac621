// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "model/trace/WorkRows.h"

namespace lanescope {

/// What one worker - a process on one of its GPUs - was given to do, by when it was launched.
/// Immutable once made; any thread.
class WorkerLaunches {
  public:
    /// A kernel, copy, memset or graph.
    struct Launch {
        /// When the launching call began; the start of the work if that is not recorded.
        int64_t launchNs = 0;
        int64_t startNs = 0;
        int64_t endNs = 0;
        uint32_t stream = 0;
        bool isCallKnown = false;
        bool isMemory = false;  ///< A copy or memset.
    };

    /// `mainStreams` are those that tell when the GPU came to something, as indices into
    /// `Trace::streams`. O(n log n).
    WorkerLaunches(uint32_t process, uint32_t gpu, LargeVector<Launch> launches,
                   const std::vector<uint32_t>& mainStreams);

    uint32_t process() const { return process_; }
    uint32_t gpu() const { return gpu_; }

    /// How many pieces of work were launched in that time. O(log n).
    size_t count(TimeRange launched) const;
    /// How many of them were kernels and graphs; of a worker that never has any, all. O(log n).
    size_t countComputing(TimeRange launched) const;
    /// The sum of what they took. O(log n).
    int64_t gpuNs(TimeRange launched) const;
    /// When half of all pieces had been launched; 0 without any.
    int64_t halfLaunchedNs() const;

    /// The moment of the GPU that stands for a moment of the CPU: when all that was launched before
    /// has ended, and nothing that is launched later has begun. If the GPU is idle for a while
    /// then, the moment itself or what of that while is next to it. So it is the moment itself
    /// where the GPU waits for the CPU, and later by as much as the CPU runs ahead.
    ///
    /// Only work of the main streams counts, which run what they are given in order; a copy for the
    /// next step that another stream runs early, and one that it runs late, tell nothing of when a
    /// step begins. Never earlier for a later moment. Where no launch is known, the moment itself.
    /// O(log n).
    int64_t onGpu(int64_t cpuNs) const;

  private:
    uint32_t process_, gpu_;
    // Of all work, by launch:
    LargeVector<int64_t> launchNs_;
    LargeVector<int64_t> sumsNs_;       ///< `sumsNs_[i]` is what the first `i` pieces took.
    LargeVector<int64_t> computingNs_;  ///< Of kernels and graphs alone, if there are any.
    // Of work of the main streams whose launch is known, by launch:
    LargeVector<int64_t> mainNs_;
    LargeVector<int64_t> endNs_;    ///< When all up to this one have ended.
    LargeVector<int64_t> startNs_;  ///< When the first of this one and all later ones begins.
};

/// The launches of every worker of the run (`GpusOfProcesses`), by process and GPU. Main streams
/// are those whose kernels, other than NCCL's, take at least half as long as those of the busiest;
/// of a worker without kernels, of its graphs; without these, of its copies and memsets. O(n log n)
/// in calls and GPU work.
std::vector<WorkerLaunches> launchesOf(const Trace& trace);

/// Kernels that repeat: where each repetition begins.
struct KernelPattern {
    /// The one that begins a repetition, or "CUDA graph 3"; empty if none was found.
    std::string kernel;
    std::vector<int64_t> startsNs;  ///< At least three.
    int64_t endNs = 0;  ///< Of the last kernel that is no later than a repetition lasts.
};

/// Finds the steps of a worker that has no NVTX ranges for them by the rhythm of its work: kernels,
/// without NCCL's, and graphs that were recorded as a whole, by start. Each name divides the
/// work at its launches, three times or more, and five where a piece has fewer than twenty of them.
/// Good dividers leave at most half of all work before their first and
/// after their last launch, and at least 70 % of what is between stands in pieces about as long
/// (within 5 %) as the piece that most often holds the very same names, which must be at least half
/// of all pieces. Of the best dividers, within a tenth, the one that divides most finely, of these
/// the one with the longest pause before it, begins the steps. Where nothing divides all of the
/// work, the last half of it is looked at, then the last quarter: what a program tries and tunes
/// before it starts may be most of what it launches. Pieces unlike the others at the beginning are
/// no steps. O(n log n) in the work.
KernelPattern findKernelPattern(const Trace& trace, const WorkRows::OfWorker& rows);

}  // namespace lanescope
