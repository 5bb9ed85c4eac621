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

/// Selection of the steps of a run. Default: detected, without warm-up.
struct StepSelection {
    /// NVTX ranges that are the steps; '#' matches any number ("step #"). Empty to detect. Named ranges are compared
    /// without time between them. Without such ranges the name of another unit of the run (`RunSteps::units`).
    std::string rangeName = {};
    /// Only steps number `first` to `last` (`StepSpan::number`), inclusive. Warm-up is not skipped then.
    std::optional<StepRange> numbers = {};
    /// Exactly this range of time as the only step, whatever the NVTX ranges: a slice, a selection.
    std::optional<TimeRange> stretch = {};
    bool keepsWarmUp = false;

    bool isDefault() const { return *this == StepSelection{}; }
    bool operator==(const StepSelection&) const = default;
};

/// Parses step numbers such as "5-20" or "7".
Result<StepRange> parseStepNumbers(std::string_view text);

/// Origin of the steps of a run.
enum class StepSource : uint8_t {
    NvtxRange,      ///< NVTX ranges of one name pattern.
    KernelPattern,  ///< No such ranges: the period of the kernels.
    WholeRun,       ///< No repetition: the run is one step.
    PythonLoop,     ///< Iterations of a loop, by the Python lines of its launches.
    Chosen,         ///< `StepSelection::stretch`.
};
/// For files and programs: "nvtx_range", "kernel_pattern", "whole_run", "python_loop", "chosen".
std::string_view identifier(StepSource source);

/// Meaning of the steps in the program.
enum class StepKind : uint8_t {
    Step,
    Request,  ///< It answers a request from outside, and waits for the next in between.
};
/// For people, files and programs: "step", "request".
std::string_view identifier(StepKind kind);

/// One step of one worker.
struct StepSpan {
    /// The number in its name if all steps of the run have one that ascends, else counted from 0 within the process.
    int64_t number = 0;
    /// Duration of the step's work on the GPU. If steps are NVTX ranges: from the GPU time that corresponds to the
    /// start of the range to the one for its end (`WorkerLaunches::onGpu`); detected ones end at the start of the next.
    TimeRange range;
    /// Time of the launches of the step's work; empty if steps are no NVTX ranges.
    TimeRange launches;
    /// The NVTX range itself: the step's time on the CPU. Empty if steps are no NVTX ranges.
    TimeRange onCpu;
    std::string name;  ///< "step 12"; empty without NVTX.
};

/// The steps of one worker, which is one process on one GPU, by start, without overlaps.
struct WorkerSteps {
    uint32_t process = 0;
    uint32_t gpu = 0;                  ///< Index into `Trace::gpus`.
    uint32_t stepThread = noIndex;     ///< The thread with the ranges, if they are NVTX ranges.
    std::vector<StepSpan> steps = {};  ///< The compared steps.
    int64_t foundCount = 0;            ///< Number before warm-up and unselected steps were removed.
    int64_t warmUpCount = 0;           ///< Skipped at the beginning.
    bool isLastLeftOut = false;        ///< The last step is omitted, because no next step ends it.

    /// Returns the index in `steps` of the step that launched the work, however late it ran. If the launch is unknown
    /// or steps are no ranges: the step in which it starts. `noIndex` if there is none. O(log n).
    uint32_t stepOf(int64_t startNs, std::optional<int64_t> launchedNs) const;
};

/// Something else that repeats in a run, larger or smaller than its steps.
struct StepUnit {
    StepSource source = StepSource::NvtxRange;
    std::string pattern;  ///< As `RunSteps::pattern`.
    int64_t count = 0;    ///< In the process with most.
    bool operator==(const StepUnit&) const = default;
};

/// The steps of a run.
struct RunSteps {
    StepSource source = StepSource::WholeRun;
    StepKind kind = StepKind::Step;
    /// Units of the pattern per step: more than one if weights are updated, or numbers in names restart, after so many.
    int64_t rangesPerStep = 1;
    /// "step #", the first kernel of a step, or the line of a loop: "train.py:33 in train".
    std::string pattern = {};
    /// Units that can be chosen instead of the steps (`StepSelection::rangeName`), the most similar to steps first.
    std::vector<StepUnit> units = {};
    /// For `WholeRun`: the single call that launched the work, such as "GPT.forward"; empty if unknown.
    std::string onlyCall = {};
    /// For `WholeRun`: ranges like steps whose work ran long after them in one piece and shows no steps: "step #".
    std::string deferred = {};
    std::vector<WorkerSteps> workers = {};  ///< Workers with steps, by process and GPU.
};

/// Finds the steps of every process on every GPU that it uses. The unit is the largest that repeats often enough:
///
/// - NVTX ranges of the best pattern of `findStepPatterns`, if it is named like steps or requests.
/// - Otherwise the iterations of a loop by their Python lines (`findPythonLoops`), unless there are as few ranges of a
///   pattern. Ranges within an iteration are parts of it.
/// - Otherwise the period of the kernels (`findKernelPattern`), unless all of them are parts of one call.
/// - Units without weight updates of their own are grouped up to the next update (`RunSteps::rangesPerStep`).
///
/// Ranges that launch no GPU work are skipped; their time belongs to the step before. A step lasts to the start of the
/// next, so that waiting for data between two ranges belongs to it. A step that is followed by work of another kind,
/// such as an evaluation, ends with its range.
///
/// - Steps outside all recorded windows are skipped, if a process was recorded in windows.
/// - Warm-up: the steps at the beginning that take more than 1.5 times the median of the run.
/// - Named ranges that launch nothing at all count with their time on the CPU.
///
/// Fails if the selection names ranges or numbers that the run does not have. O(n log n) in ranges,
/// calls and GPU work; any thread.
Result<RunSteps> findSteps(const Trace& trace, const StepSelection& selection = {});

}  // namespace lanescope
