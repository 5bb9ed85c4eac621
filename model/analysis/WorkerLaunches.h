// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// The GPU work of one worker - a process on one of its GPUs - by launch time. Immutable; any thread.
class WorkerLaunches {
  public:
    /// A kernel, copy, memset or graph.
    struct Launch {
        /// Start of the launching call, or of the work if the call was not recorded.
        int64_t launchNs = 0;
        int64_t startNs = 0;
        int64_t endNs = 0;
        uint32_t stream = 0;
        bool isCallKnown = false;
        bool isMemory = false;  ///< A copy or memset.
    };

    /// `mainStreams` contains indices into `Trace::streams` of streams that show the progress of the GPU. O(n log n).
    WorkerLaunches(uint32_t process, uint32_t gpu, LargeVector<Launch> launches,
                   const std::vector<uint32_t>& mainStreams);

    uint32_t process() const { return process_; }
    uint32_t gpu() const { return gpu_; }

    /// Returns the number of pieces of work launched in that time. O(log n).
    size_t count(TimeRange launched) const;
    /// Returns the number of kernels and graphs among them; all work of a worker that never has any. O(log n).
    size_t countComputing(TimeRange launched) const;
    /// Returns the sum of their durations. O(log n).
    int64_t gpuNs(TimeRange launched) const;
    /// Returns the time at which half of all pieces had been launched; 0 without any.
    int64_t halfLaunchedNs() const;

    /// Returns the GPU time that corresponds to a CPU time: all earlier launched work has ended, and no later launched
    /// work has begun. If the GPU is idle then: the CPU time itself, or the nearest time in that gap. The result is
    /// thus the CPU time if the GPU waits for the CPU, and later by the time that the CPU runs ahead.
    ///
    /// Only work of the main streams counts, which run in launch order. A copy for the next step that another stream
    /// runs early or late is no evidence for the start of a step. Monotonic. The CPU time itself if no launch is known.
    /// O(log n).
    int64_t onGpu(int64_t cpuNs) const;

  private:
    /// Times in order, packed.
    class Times {
      public:
        explicit Times(LargeMemory* memory) : all_(memory), everyBlock_(memory) {}
        size_t size() const { return all_.size(); }
        bool empty() const { return all_.empty(); }
        int64_t operator[](size_t index) const { return all_[index]; }
        void push_back(int64_t timeNs) {
            if (all_.size() % Column<int64_t>::blockSize == 0) everyBlock_.push_back(timeNs);
            all_.push_back(timeNs);
        }
        /// Returns the number of earlier times. O(log n).
        size_t firstFrom(int64_t timeNs) const;
        size_t countWithin(TimeRange range) const {
            return range.isEmpty() ? 0 : firstFrom(range.endNs) - firstFrom(range.startNs);
        }

      private:
        Column<int64_t> all_;
        LargeVector<int64_t> everyBlock_;  ///< The first of each block: all others need not be read.
    };

    uint32_t process_, gpu_;
    // For all work, by launch:
    Times launchNs_;
    Column<int64_t> sumsNs_;      ///< `sumsNs_[i]` is the duration of the first `i` pieces.
    Column<uint32_t> computing_;  ///< `computing_[i]` is the number of kernels and graphs among them.
    // For work of the main streams with a known launch, by launch:
    Times mainNs_;
    Column<int64_t> endNs_;    ///< End of all up to this one.
    Column<int64_t> startNs_;  ///< Start of the first of this one and all later ones.
};

/// Returns the launches of every worker of the run (`GpusOfProcesses`), by process and GPU. Main streams have kernels,
/// other than NCCL's, that take at least half as long as those of the busiest stream. For a worker without kernels its
/// graphs count, without these its copies and memsets. O(n log n) in calls and GPU work.
std::vector<WorkerLaunches> launchesOf(const Trace& trace);

}  // namespace lanescope
