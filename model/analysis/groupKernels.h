// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/RunSummary.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope::analysis {

/// The Python line that launched the work of each contributor. Refers to the trace. One thread.
class WorkPlaces {
  public:
    /// `ownPlaces` is the result of the function of that name for the trace; nothing is known without it.
    WorkPlaces(const Trace& trace, std::span<const uint32_t> ownPlaces);

    /// O(1), for a kernel of a CUDA graph O(log n).
    void add(const GpuWork& work);
    /// Returns the place of the launch. O(1), for a kernel of a CUDA graph O(log n).
    PythonPlace placeOf(const GpuWork& work) const;
    /// Returns a number for the line of a place, for `codeOf`; nullopt if unknown.
    std::optional<uint32_t> keyOf(const PythonPlace& place) const;
    /// Returns "launched at train.py:212 in GPT.forward".
    CodePlace codeOf(uint32_t key) const;
    /// Returns "train.py:212 in GPT.forward".
    std::string lineOf(uint32_t key) const;
    /// Returns true if the line is that of the caller of another thread, such as of a backward pass.
    static bool isOfCaller(uint32_t key);
    /// Returns the line of most of these calls and its number of calls, or a function, without a line, if no line makes
    /// half as many; empty if less than a fifth. O(calls).
    std::pair<CodePlace, int64_t> mainPlace(std::span<const uint32_t> calls) const;

    /// Sets `Contributor::launched` and `isOfCaller`: the origin of more than half of its time in the steps
    /// (`exposedNs`), whatever that of its overlapped time. Leaves those without such a line. O(contributors * lines).
    void setLines(std::span<Contributor> contributors) const;

  private:
    const Trace& trace_;
    std::span<const uint32_t> frames_;  ///< By stack: the frame that represents its line.
    /// By contributor and place, which is a frame and its meaning.
    std::unordered_map<uint64_t, int64_t> launchedNs_;
};

/// Returns statistics of the calls that launched the kernels beginning in `windows` (sorted, without overlaps). `work`
/// is sorted by start. Empty if the trace has no calls. O(n log n) in the kernels.
LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows, const WorkList& work,
                        const WorkPlaces& places);

/// Returns the purpose of launches by the rows of `Trace::stacks`; an inner frame precedes outer ones. O(stacks).
std::vector<LaunchPurpose> launchPurposes(const Trace& trace);

/// Returns the groups of the compute kernels in the steps of a worker, those with most time first. `contributors` are
/// those of `work`, summed up. O(n) in the work.
std::vector<KernelGroup> groupKernels(const RunContext& run, const WorkList& work, const WorkerSteps& steps,
                                      std::span<const Contributor> contributors,
                                      std::span<const LaunchPurpose> purposes, const WorkPlaces& places);

/// Returns the kernels of a worker; without groups of their own, by the names of its contributors.
std::vector<KernelGroup> kernelsOf(const WorkerSummary& worker);

/// The compute time of a family of kernels in the steps of a worker.
struct FamilySum {
    KernelFamily family = KernelFamily::Other;
    KernelPrecision precision = KernelPrecision::Unknown;  ///< Type of more than half of the products.
    int64_t count = 0;
    int64_t exposedNs = 0;
    std::string name = {};      ///< The kernel with most time.
    std::string launched = {};  ///< Its line, as `KernelGroup::launched`.

    bool operator==(const FamilySum&) const = default;
};

/// Returns the families, largest first; they sum to the compute time of the steps.
std::vector<FamilySum> familySums(const WorkerSummary& worker);

}  // namespace lanescope::analysis
