// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/analysis/ComputeUse.h"
#include "model/analysis/IdleCause.h"
#include "model/analysis/KernelGroup.h"
#include "model/analysis/NvlinkVerdict.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/StepSelection.h"
#include "model/analysis/codeLines.h"
#include "model/analysis/distinctions.h"
#include "model/causality/Subject.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// Duration and composition of one step of one worker. `parts.sum() == wallNs`.
struct StepSummary {
    int64_t number = 0;   ///< Counted from 0 within the process, warm-up included.
    std::string name;     ///< "step 12"; empty if the steps have no names.
    int64_t startNs = 0;  ///< On the clock of the trace.
    int64_t wallNs = 0;   ///< Duration of the step on the GPU (`StepSpan::range`).
    StepParts parts;
    /// Duration of its NVTX range on the CPU, which may run ahead; nullopt without ranges.
    std::optional<int64_t> onCpuNs = std::nullopt;
    /// Rate of its tensor cores (`ComputeUse::activePerSecond`); nullopt if its readings do not suffice.
    std::optional<int64_t> activePerSecond = std::nullopt;
    bool operator==(const StepSummary&) const = default;
};

enum class ContributorKind : uint8_t { Kernel, Collective, Copy, Memset, Graph, Idle, Others };
/// "kernel", "collective", "copy", "memset", "graph", "idle", "others".
std::string_view name(ContributorKind kind);
/// The same for files and programs.
std::string_view identifier(ContributorKind kind);

/// Property of a contributor that changes the advice.
enum class ContributorTrait : uint8_t {
    None,
    Pageable,    ///< A copy from or to host memory that is not pinned.
    Allocation,  ///< Idle while the CPU allocated or freed memory.
    Unknown,     ///< Idle for a reason that was not recorded.
};
/// For files and programs.
std::string_view identifier(ContributorTrait trait);

/// A place in Python: words about it, and the lines that they name, such as "train.py:88 in fetch". Empty if unknown.
struct CodePlace {
    std::string text = {}, line = {}, caller = {};

    bool empty() const { return text.empty(); }
    bool operator==(const CodePlace&) const = default;
};

/// A component of a part of one worker's steps, summed. The contributors of a part sum to it exactly (`exposedNs`).
struct Contributor {
    StepPart part = StepPart::Compute;
    ContributorKind kind = ContributorKind::Kernel;
    ContributorTrait trait = ContributorTrait::None;
    /// Demangled kernel, "AllReduce", "HtoD from pinned", "memset", "CUDA graphs" (recorded as a whole). For idle time
    /// the activity of the CPU. For `Others` the contributors too small to be listed.
    ContributorName name = {};
    /// NVTX ranges around the launching call within the step, outermost first, digits as '#': "backward/layer #". A
    /// thread without ranges of its own uses those of the step thread. Empty outside any range.
    std::string path = {};
    int64_t count = 0;      ///< Kernels, copies ...; for idle time, intervals.
    int64_t exposedNs = 0;  ///< Part of the steps' wall time.
    int64_t totalNs = 0;    ///< Summed durations of the work launched in the steps, including overlapped time.
    int64_t bytes = 0;      ///< For copies, memsets and collectives; 0 if unknown.
    /// For collectives: `bytes` times the factor of nccl-tests for the bus bandwidth.
    int64_t busBytes = 0;
    int64_t order = 0;  ///< Position of its first launch within the first step that has it.
    /// For launch-bound time of a thread that ran at least at times: the part of `exposedNs` in which it cannot have
    /// run, since the kernel counts no more of its time on a core. 0 if unknown, and for all other contributors.
    int64_t waitedNs = 0;
    /// Part of the rest in which it was in host code for long (`minWorkNs`), not on its way from launch to launch.
    int64_t workedNs = 0;
    int64_t longCount = 0;  ///< Such intervals, also of waits, of which it is the largest part.
    /// Part of `exposedNs` in which it waited for the GIL that a thread without launches had. Estimated: a sampled wait
    /// counts in full, less the time that the kernel counts as running.
    int64_t gilNs = 0;
    /// For work: "launched at train.py:212 in GPT.forward", the Python line of more than half of it. "called from" for
    /// a thread without Python, "captured at" for a CUDA graph. For idle time in which a thread alternately ran and
    /// waited, so that its place is unknown: "seen mostly at serve.py:42 in collect". For a thread without Python:
    /// "while the main thread was at ...". For a known line: "called at ...". Empty if there is no such line.
    CodePlace launched = {};
    /// `launched` is the line of a call for which a thread without Python worked, such as that of a backward pass.
    bool isOfCaller = false;

    /// Adds the amounts of another one.
    void add(const Contributor& more);
    bool operator==(const Contributor&) const = default;
};

/// A step that took much longer than similar steps, and its main contributor. Much longer: beyond the third quartile by
/// three times the interquartile range (Tukey's outer fence), and by at least 3 % of the median.
struct OutlierStep {
    int64_t number = 0;
    std::string name;
    int64_t startNs = 0;
    int64_t wallNs = 0;
    int64_t excessNs = 0;               ///< Over the median step.
    StepPart part = StepPart::Compute;  ///< The part that grew most.
    int64_t partExcessNs = 0;           ///< Over the median of that part.
    /// The contributor of that part that grew most over its mean; empty if unknown.
    ContributorName contributor = {};
    std::string path = {};
    /// For pooled runs the run of the step: "PID 4242, GPU 0 of run3.sqlite"; else empty.
    std::string run = {};
    bool operator==(const OutlierStep&) const = default;
};

/// SM clock of a worker's GPU in its steps while the same reasons throttled its clocks.
struct ClockState {
    uint64_t reasons = 0;   ///< Bits of `throttleReasons` that slow down; 0 if none.
    int64_t ns = 0;         ///< Time in the steps.
    int64_t smClockHz = 0;  ///< Mean of the readings in that time; 0 if there were none.
    /// The longest interval in which the SMs ran no faster than that mean; 0 without reasons or readings.
    int64_t longestStartNs = 0;
    int64_t longestNs = 0;
    bool operator==(const ClockState&) const = default;
};

/// Time of a run outside of its compared steps.
enum class RunPhase : uint8_t {
    StartUp,  ///< Before the first compared step, from the first event of the process; includes warm-up.
    Between,  ///< Between steps, as `StepPauses`.
    End,      ///< After the last compared step, to the last event of the process.
};
/// For files and programs: "start_up", "between", "end".
std::string_view identifier(RunPhase phase);

/// Contents of a phase: idle time by its cause and GPU work.
struct PhaseSummary {
    RunPhase phase = RunPhase::StartUp;
    /// By `exposedNs`, largest first, at most `maxPhaseContributors`, then all others as one. They sum to the phase.
    std::vector<Contributor> contributors;

    int64_t ns() const;
    bool operator==(const PhaseSummary&) const = default;
};
inline constexpr size_t maxPhaseContributors = 6;

/// Time between steps that belongs to neither, such as evaluations and checkpoints.
struct StepPauses {
    int64_t count = 0;
    int64_t idleNs = 0;  ///< Time in which the GPU had no work of the worker, summed.
    int64_t longestStartNs = 0;
    int64_t longestNs = 0;  ///< The pause with most idle time.
    int64_t ns = 0;         ///< Total of all pauses.
    bool operator==(const StepPauses&) const = default;
};

/// Time between two requests in which the launching thread was seen to wait.
struct RestBetween {
    int64_t ns = 0;  ///< Summed.
    /// Of kind `None`: "on the main thread at serve.py:10 in take, which waits for input".
    IdleCause most = {};
    bool operator==(const RestBetween&) const = default;
};

/// Activity of a worker's data loading threads in its steps, summed over them.
struct LoaderTimes {
    int64_t threads = 0;  ///< 0 if there are none, or if states were not recorded.
    int64_t knownNs = 0;  ///< Time with a known state.
    int64_t ranNs = 0, noCoreNs = 0;
    int64_t inputNs = 0;  ///< Time waiting for input or a disk.
    bool operator==(const LoaderTimes&) const = default;
};

/// Threads that were runnable (waiting for a core).
struct CoreWaits {
    int64_t threads = 0;  ///< Threads that waited for more than a little.
    int64_t ns = 0;       ///< Total wait of these threads.
    bool operator==(const CoreWaits&) const = default;
};

/// Durations of the calls that launched the kernels of the steps, with profiler overhead.
struct LaunchTimes {
    int64_t count = 0;     ///< Each call once, however many kernels it launched, such as a graph.
    int64_t medianNs = 0;  ///< Duration of a call; 0 without any.
    /// Origin of most, as `Contributor::launched`, and their number. Empty and 0 if no line made a fifth.
    CodePlace place = {};
    int64_t placeCount = 0;
    bool operator==(const LaunchTimes&) const = default;
};

/// Calls in the steps that allocate or free memory.
struct AllocationTimes {
    int64_t allocations = 0, frees = 0;
    /// Origin of most frees, "memory.py:224 in empty_cache, called at train.py:34 in train"; empty if unknown.
    CodePlace freedAt = {};
    bool operator==(const AllocationTimes&) const = default;
};

/// Operations on the default stream of CUDA between the work of other streams, which never overlaps: unless these
/// streams are non-blocking, such an operation waits for all of them, and they for it.
struct StreamOrder {
    int64_t streams = 0;     ///< Other streams with at least a twentieth of the work each; 0 if nothing is so.
    int64_t operations = 0;  ///< On the default stream, in the steps.
    bool operator==(const StreamOrder&) const = default;
};

/// Large copies between host and GPU in the steps that a program may launch earlier or avoid.
struct HostCopies {
    /// Durations of copies to the GPU that started late because their stream waited for the one with most kernels.
    int64_t delayedNs = 0;
    int64_t awaitedStream = 0;  ///< CUDA's number of the awaited stream; 0 without `delayedNs`.
    std::string waitsAt = {};   ///< "cuStreamWaitEvent at data.py:92 in issue"; without a line if that is unknown.
    /// Bytes that went to the host and came back: of later copies of equal size in the same step.
    int64_t returnedBytes = 0;
    /// Lines of most of these bytes, "train.py:67 in load"; empty if unknown.
    std::string leaveAt = {}, returnAt = {};
    bool operator==(const HostCopies&) const = default;
};

/// Forecast of the mean step without some calls or work (`causality::StepReplay`).
struct StepForecast {
    causality::Subject subject = causality::Subject::Sync;  ///< The calls or work that are removed.
    int64_t savedNs = 0;                                    ///< Saving of the mean step; negative if it gets longer.
    int64_t marginNs = 0;                                   ///< Half of the 95 % interval.
    bool operator==(const StepForecast&) const = default;
};

/// Part of a critical path.
enum class PathPart : uint8_t {
    Host,
    Loader,
    UnknownWait,
    Call,
    Kernel,
    Collective,
    Copy,
    Memset,
    Graph,
    LaunchDelay,  ///< From a launch to the start of its work.
    ReturnDelay,  ///< From the end of work to the return of a call that waits.
    WorkDelay,    ///< Between GPU work.
};
/// For people: "kernel", "delay".
std::string_view name(PathPart part);
/// For files and programs: "kernel", "launch_delay".
std::string_view identifier(PathPart part);

/// Time of a step's critical path in one part.
struct PathTime {
    PathPart part = PathPart::Host;
    std::optional<int> rank;
    int64_t pid = 0;
    std::string name = {};  ///< Kernel family, call, copy kind or collective; empty for other parts.
    std::string line = {};  ///< "train.py:212"; empty if unknown.
    int64_t ns = 0;         ///< Per step.
    double count = 0;       ///< Per step.

    /// Returns its name, or that of its kind of delay.
    std::string_view shownName() const;
    /// Returns "rank 1" or "PID 4242".
    std::string process() const;
    bool operator==(const PathTime&) const = default;
};

/// One process on one GPU, the unit of analysis.
struct WorkerSummary {
    uint32_t pid = 0;
    std::optional<int> rank = {};
    std::string processName = {};
    int64_t gpuId = 0;
    std::string gpuName = {};
    bool endedAbnormally = false;
    int64_t foundSteps = 0;      ///< Steps in the run.
    int64_t warmUpSteps = 0;     ///< Steps skipped at the beginning.
    bool isLastLeftOut = false;  ///< The last step was skipped, since no next step ends it.
    /// From the start of its first GPU work to the end of its last, inside or outside steps.
    int64_t workNs = 0;
    std::vector<StepSummary> steps = {};
    std::vector<Contributor> contributors = {};  ///< By part, then by `exposedNs`, largest first.
    std::vector<OutlierStep> outliers = {};      ///< Longest first; at most `maxOutliers`.
    /// Causes that only some steps or only this worker has; at most one each.
    std::vector<Distinction> distinctions = {};
    StepPauses pauses = {};
    RestBetween rest = {};  ///< Part of `pauses`; empty for steps that are not requests.
    /// By reasons, each once; empty if throttle reasons were not recorded.
    std::vector<ClockState> clocks = {};
    int64_t highestSmClockHz = 0;  ///< Highest clock of its GPU in the whole run; 0 if unknown.
    /// Processor time withheld in the steps by the limit of its control group; nullopt if unknown.
    std::optional<int64_t> heldBackNs = {};
    LoaderTimes loaders = {};
    LaunchTimes launches = {};
    AllocationTimes allocations = {};
    std::string recompiled = {};  ///< XLA program that was compiled again after the first step; empty without any.
    int64_t compilations = 0;     ///< Its compilations in the whole run.
    /// In order; without empty ones. Empty for runs without steps.
    std::vector<PhaseSummary> phases = {};
    StreamOrder streams = {};
    HostCopies hostCopies = {};
    bool hasTensorFloat = false;  ///< Its GPU can multiply matrices of fp32 as TF32 on tensor cores.
    int64_t drains = 0;           ///< Waits of its threads for the GPU in which the GPU ran out of work.
    /// Its compute kernels, largest `exposedNs` first; they sum to at most the part.
    std::vector<KernelGroup> kernels = {};
    std::vector<CodeLine> code = {};  ///< Lines that it names, by place; empty if their texts are not recorded.
    int64_t usedMemoryBytes = 0;      ///< Maximum of its GPU, other processes included; 0 if unknown.
    int64_t memoryBytes = 0;          ///< Memory of its GPU; 0 if unknown.
    /// Measured rates of products in the trace, operations per second; 0 without.
    int64_t singleRate = 0, tensorFloatRate = 0;
    /// Core waits in its steps; nullopt if unknown for all threads of its process.
    std::optional<CoreWaits> coreWaits = {};
    /// Each subject at most once; empty unless it is the critical worker and its recorded causes explain its steps.
    std::vector<StepForecast> forecasts = {};
    /// Critical path of its mean step, largest first, at most `maxPathTimes`; empty as `forecasts`.
    std::vector<PathTime> path = {};
    ComputeUse use = {};
    std::vector<ShapedWork> shaped = {};  ///< As `UseInSteps::shaped`.

    /// "rank 1, GPU 1" or "PID 4242, GPU 0".
    std::string label() const;
    StepParts totalParts() const;
    std::vector<int64_t> wallTimes() const;  ///< Durations of the steps.
    int64_t totalWallNs() const;
    /// Returns the time from the first event of its process to the last; 0 if unknown.
    int64_t runNs() const;
    /// Returns a phase; null if it is empty.
    const PhaseSummary* phase(RunPhase phase) const;
    /// Returns the MFU of a step by its own readings; nullopt if they do not suffice (`minReadShare`).
    std::optional<double> mfuOf(const StepSummary& step) const;
    /// Returns the share of `workNs` in steps. Statements about the steps do not cover the rest. Nullopt if unknown.
    std::optional<double> coverage() const;
    /// Returns the mean duration of the steps' NVTX ranges on the CPU; nullopt without ranges.
    std::optional<int64_t> meanOnCpuNs() const;
    /// Returns that mean if it is less than the mean step: the CPU runs ahead. Else nullopt.
    std::optional<int64_t> aheadNs() const;
    bool operator==(const WorkerSummary&) const = default;
};
inline constexpr size_t maxOutliers = 8;
inline constexpr size_t maxPathTimes = 64;
inline constexpr size_t minStepsForOutliers = 4;
/// Listed contributors of each part; smaller ones are added to one of kind `Others`.
inline constexpr size_t maxContributors = 128;

/// Facts of a trace that must agree for a meaningful comparison, and its own statements.
struct SummaryFacts {
    std::string title;
    std::string producer;
    ProducerKind producerKind = ProducerKind::Other;
    std::string driver = {};
    std::string cuda = {};
    std::string commandLine = {};
    std::string host = {};                   ///< Host of the run; with several hosts that of the recorder.
    int64_t startUtcNs = 0;                  ///< Start of the run, since 1970; 0 if unknown.
    std::string recordOptions = {};          ///< Options of the recorder, as stored by it.
    std::vector<std::string> gpuNames = {};  ///< GPUs with work, by id.
    /// Mean SM clock of these GPUs from the first kernel to the last; 0 if unknown.
    int64_t smClockHz = 0;
    /// Processor time allowed by the control group of the run, 100 for one core; 0 if unlimited or unknown.
    int64_t cpuLimitPercent = 0;
    /// Names of processes that held memory of these GPUs and were not recorded, each once.
    std::vector<std::string> otherGpuProcesses = {};
    bool isNvlinkPresent = false;  ///< NVLink connects some pair of GPUs.
    int64_t worldSize = 0;         ///< Processes that work on a GPU, or ranks if more.
    int64_t kernelCount = 0;
    bool hasApiCalls = false;
    bool isTruncated = false;  ///< A process ended abnormally or its log was truncated.
    /// It was still being recorded: this is the run so far.
    bool isStillRecorded = false;
    /// Drops, untimed events, corruption ...: the warnings of the trace, most severe first, without times.
    std::vector<HealthNote> healthWarnings = {};
    uint64_t contentHash = 0;  ///< Equal for equal content; 0 for pooled runs (`isSameRecording`).

    /// Returns true if `healthWarnings` report the abnormal end of a process.
    bool reportsAbnormalEnd() const;
    /// Returns the most severe warning that the trace is corrupt (`isCorruption`); null if there is
    /// none. Valid as long as `healthWarnings`. No gate passes on numbers of such a trace.
    const HealthNote* damage() const;
    bool operator==(const SummaryFacts&) const = default;
};

/// NVLink traffic of a run's GPUs, as far as known from the trace (`judgeNvlink`).
struct NvlinkTraffic {
    NvlinkVerdict::Use use = NvlinkVerdict::Use::Unknown;
    LinkEvidence evidence = LinkEvidence::None;
    /// Bytes of one process in the median of the compared steps; nullopt if unknown.
    std::optional<int64_t> bytesPerStep;
    LinkEvidence stepEvidence = LinkEvidence::None;  ///< Evidence of `bytesPerStep`.
    int64_t bestBytesPerSecond = 0;                  ///< Highest rate behind the verdict; 0 if none.
    bool operator==(const NvlinkTraffic&) const = default;
};

/// Data of a run needed by comparisons and explanations. Grows with the number of steps, not of events.
struct RunSummary {
    SummaryFacts facts;
    StepSource source = StepSource::WholeRun;
    StepKind kind = StepKind::Step;
    int64_t rangesPerStep = 1;                ///< As `RunSteps::rangesPerStep`.
    std::string pattern = {};                 ///< Pattern of the steps: "step #".
    std::vector<StepUnit> units = {};         ///< As `RunSteps::units`.
    std::string onlyCall = {};                ///< As `RunSteps::onlyCall`.
    std::string deferred = {};                ///< As `RunSteps::deferred`.
    std::vector<WorkerSummary> workers = {};  ///< By rank, process id and GPU.
    NvlinkTraffic nvlink = {};

    bool isEmpty() const;
    /// Returns true if the file lacks some of the worker's NCCL operations, so that its times in NCCL mean nothing.
    bool isPartlyReported(const WorkerSummary& worker) const;
    /// Returns the worker that the others wait for: that with the longest mean step less exposed communication and
    /// waiting for ranks. A worker that is partly reported counts only if all are. `noIndex` if no worker has steps.
    uint32_t criticalWorker() const;
    bool operator==(const RunSummary&) const = default;
};

/// Receives the progress of a summary in [0, 1]; returns false to cancel.
using SummaryProgress = std::function<bool(double fraction)>;

/// Summarizes a run; empty for an empty trace. Fails if the selection does not fit, or if cancelled. O(n log n).
Result<RunSummary> summarizeRun(const Trace& trace, const StepSelection& selection = {},
                                const SummaryProgress& progress = {});

/// The mean step of a worker in multiples of a quantum, rounded so that its parts sum to it.
struct MeanStep {
    int64_t ns = 0;
    StepParts parts;                 ///< They sum to `ns`.
    std::vector<int64_t> exposedNs;  ///< By contributor; those of a part sum to it.
};

/// Returns the mean step; all 0 without steps. O(parts * contributors).
MeanStep meanStep(const WorkerSummary& worker, int64_t quantumNs);

/// Returns `values` divided by `count`, rounded so that they sum to `sum`, which must be between the sum of all rounded
/// down and of all rounded up. The greatest remainders are rounded up, the first of equal ones (Hamilton's method).
std::vector<int64_t> shareOut(std::span<const int64_t> values, int64_t count, int64_t sum);

/// Returns a sentence about a worker of which most steps take no time, which is impossible: work
/// that seems to extend beyond the following steps leaves nothing for them, for example if its end
/// is corrupt. Such steps allow no verdict. Empty if there is no such worker. O(steps); any thread.
std::string timelessSentence(const RunSummary& run);

}  // namespace lanescope::analysis
