// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/format/parseStepRange.h"
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
    KernelPattern,  ///< No such ranges: the sequence of kernels that repeats.
    WholeRun,       ///< Nothing repeats: the run is one step.
    Chosen,         ///< `StepSelection::stretch`.
};
/// For files and programs: "nvtx_range", "kernel_pattern", "whole_run", "chosen".
std::string_view identifier(StepSource source);

/// One step of one process on the timeline.
struct StepSpan {
    int64_t number = 0;  ///< Counted from 0 within the process.
    TimeRange range;     ///< Found ones: to the start of the next; the last to its own end.
    std::string name;    ///< "step 12"; empty without NVTX.
};

/// The steps of one process, by start, that do not overlap.
struct ProcessSteps {
    uint32_t process = 0;           ///< Index into `Trace::processes`.
    uint32_t stepThread = noIndex;  ///< The thread with the ranges, if they are NVTX ranges.
    std::vector<StepSpan> steps;    ///< Those that are compared.
    int64_t foundCount = 0;         ///< Before warm-up and unselected steps were left out.
    int64_t warmUpCount = 0;        ///< Left out at the beginning.
    bool isLastLeftOut = false;     ///< No next step ends it, and there is time between steps.
};

/// The steps of a run.
struct RunSteps {
    StepSource source = StepSource::WholeRun;
    std::string pattern;                  ///< "step #", or the kernel that begins a step.
    std::vector<ProcessSteps> processes;  ///< Those that have any and work on a GPU.
};

/// Finds the steps of every process that works on a GPU.
///
/// By NVTX: of the ranges of one name pattern that do not overlap on their thread and repeat at
/// least three times, those that cover most time, outermost first; NCCL's own do not count. A step
/// lasts to the start of the next, so that waiting for data between two ranges belongs to it.
/// Without ranges: by the kernel that begins the sequence that repeats (`kernelPattern`).
/// Steps that lie in no recorded window are left out, where a process recorded in windows.
/// Warm-up are the steps at the beginning that take more than 1.5 times the median of the run.
/// Fails with a sentence if the selection names ranges or numbers that the run does not have.
/// O(n log n) in ranges and kernels; any thread.
Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection = {});

}  // namespace lanescope
