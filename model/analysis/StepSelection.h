// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/format/optionValues.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Which stretches of a run are its steps. As it is: found by themselves, warm-up left out.
struct StepSelection {
    /// NVTX ranges that are the steps; '#' stands for any number ("step #"). Empty: found. Ranges
    /// named here are compared as they are, without the time from one to the next.
    std::string rangeName;
    /// Only steps number `first` to `last`, counted from 0 in each run, both included. Warm-up is
    /// then whatever the caller wants: nothing else is left out.
    std::optional<StepRange> numbers;
    /// Exactly this stretch of time as the only step, whatever the ranges say: a slice, a
    /// selection.
    std::optional<TimeRange> stretch;
    bool keepsWarmUp = false;

    bool isDefault() const { return *this == StepSelection{}; }
    bool operator==(const StepSelection&) const = default;
};

/// "5-20" or "7" as numbers of steps; fails with a sentence for anything else.
Result<StepRange> parseStepNumbers(std::string_view text);

/// Where the steps of a run come from.
enum class StepSource : uint8_t {
    NvtxRange,      ///< NVTX ranges of one name pattern.
    KernelPattern,  ///< No such ranges: the rhythm of the kernels.
    WholeRun,       ///< Nothing repeats: the run is one step.
    Chosen,         ///< `StepSelection::stretch`.
};
/// For files and programs: "nvtx_range", "kernel_pattern", "whole_run", "chosen".
std::string_view identifier(StepSource source);

/// What the steps of a run are to the program.
enum class StepKind : uint8_t {
    Step,
    Request,  ///< It answers what comes from outside, and waits for the next in between.
};
/// For people, files and programs: "step", "request".
std::string_view identifier(StepKind kind);

/// One step of one worker.
struct StepSpan {
    int64_t number = 0;  ///< Counted from 0 within the process.
    /// The step's time: what its work takes on the GPU. Where steps are NVTX ranges, from the
    /// moment of the GPU that stands for the start of the range to that which stands for its end
    /// (`WorkerLaunches::onGpu`); found ones end where the next begins.
    TimeRange range;
    /// When the CPU launches the work that belongs to the step; empty if steps are no NVTX ranges.
    TimeRange launches;
    /// The NVTX range itself: the step's time on the CPU. Empty if steps are no NVTX ranges.
    TimeRange onCpu;
    std::string name;  ///< "step 12"; empty without NVTX.
};

/// The steps of one worker, which is one process on one GPU, by start, that do not overlap.
struct WorkerSteps {
    uint32_t process = 0;           ///< Index into `Trace::processes`.
    uint32_t gpu = 0;               ///< Index into `Trace::gpus`.
    uint32_t stepThread = noIndex;  ///< The thread with the ranges, if they are NVTX ranges.
    std::vector<StepSpan> steps;    ///< Those that are compared.
    int64_t foundCount = 0;         ///< Before warm-up and unselected steps were left out.
    int64_t warmUpCount = 0;        ///< Left out at the beginning.
    bool isLastLeftOut = false;     ///< No next step ends it, and there is time between steps.

    /// Which of `steps` GPU work belongs to: the one that launched it, however late it ran. The one
    /// that it starts in, if nobody knows when it was launched or steps are no ranges. `noIndex` if
    /// it belongs to none. O(log n).
    uint32_t stepOf(int64_t startNs, std::optional<int64_t> launchedNs) const;
};

/// The steps of a run.
struct RunSteps {
    StepSource source = StepSource::WholeRun;
    StepKind kind = StepKind::Step;
    /// How many ranges of the pattern a step holds: more than one where the program marks batches
    /// and updates its weights after so many of them.
    int64_t rangesPerStep = 1;
    std::string pattern;               ///< "step #", or the kernel that begins a step.
    std::vector<WorkerSteps> workers;  ///< Those that have any, by process and GPU.
};

/// Finds the steps of every process on every GPU that it works on.
///
/// By NVTX: the ranges of the name pattern that `findStepPattern` finds. Ranges that launch no work
/// for the GPU are left out; their time belongs to the step before. A step lasts to the start of
/// the next, so that waiting for data between two ranges belongs to it; one that is followed by
/// work of another kind, such as an evaluation, ends with its range.
/// Without such ranges: by the rhythm of the kernels (`findKernelPattern`).
/// Steps that lie in no recorded window are left out, where a process recorded in windows.
/// Warm-up are the steps at the beginning that take more than 1.5 times the median of the run.
/// Ranges that were named and launch nothing at all are taken at their time on the CPU.
/// Fails with a sentence if the selection names ranges or numbers that the run does not have.
/// O(n log n) in ranges, calls and GPU work; any thread.
Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection = {});

}  // namespace lanescope
