// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/analysis/NvlinkVerdict.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::analysis {

/// One step of one worker: how long, and made of what. `parts.sum() == wallNs`.
struct StepSummary {
    int64_t number = 0;   ///< Counted from 0 within the process, warm-up included.
    std::string name;     ///< "step 12"; empty if the steps have no names.
    int64_t startNs = 0;  ///< On the clock of the trace.
    int64_t wallNs = 0;   ///< What the step takes on the GPU (`StepSpan::range`).
    StepParts parts;
    /// What its NVTX range takes on the CPU, which may run ahead; nothing without ranges.
    std::optional<int64_t> onCpuNs = std::nullopt;
    bool operator==(const StepSummary&) const = default;
};

enum class ContributorKind : uint8_t { Kernel, Collective, Copy, Memset, Graph, Idle, Others };
/// "kernel", "collective", "copy", "memset", "graph", "idle", "others".
std::string_view name(ContributorKind kind);
/// The same for files and programs.
std::string_view identifier(ContributorKind kind);

/// What is known of a contributor besides its kind, if that changes what to do about it.
enum class ContributorTrait : uint8_t {
    None,
    Pageable,    ///< A copy from or to host memory that is not pinned.
    Allocation,  ///< Idle while the CPU allocated or freed memory.
    Unknown,     ///< Idle, and what for was not recorded.
};
/// For files and programs.
std::string_view identifier(ContributorTrait trait);

/// What a part of the steps is made of, summed over the steps of one worker. The contributors of a
/// part sum to that part exactly (`exposedNs`).
struct Contributor {
    StepPart part = StepPart::Compute;
    ContributorKind kind = ContributorKind::Kernel;
    ContributorTrait trait = ContributorTrait::None;
    /// Demangled kernel, "AllReduce", "HtoD from pinned", "memset", "CUDA graphs" (recorded as a
    /// whole); for idle time what the CPU did:
    /// "in cudaMalloc", "outside CUDA calls". For `Others`, what is too small to be listed.
    std::string name;
    /// NVTX ranges around the launching call within the step, outermost first, digits as '#':
    /// "backward/layer #". A thread without ranges of its own takes those of the thread with the
    /// steps. Empty outside of any.
    std::string path;
    int64_t count = 0;      ///< Kernels, copies ...; of idle time, stretches.
    int64_t exposedNs = 0;  ///< Of the steps' wall time.
    int64_t totalNs = 0;    ///< Summed durations of what the steps launched, hidden time too.
    int64_t bytes = 0;      ///< Of copies, memsets and collectives; 0 if unknown.
    /// Of collectives: `bytes` times what nccl-tests multiply with to get the bus bandwidth.
    int64_t busBytes = 0;
    int64_t order = 0;  ///< Place of its first launch within the first step that has it.
    /// Of launch-bound time of a thread that ran, at times at least: how much of `exposedNs` it
    /// cannot have run in, since the kernel counts no more of its time on a core. 0 if that is not
    /// known, and of all else.
    int64_t waitedNs = 0;
    /// Of the rest, how much it was seen to run outside of calls for long at a time
    /// (`leastWorkNs`): it computes something there, and is not on its way from launch to launch.
    int64_t workedNs = 0;
    /// Of work: "launched at train.py:212 in GPT.forward", the line of Python at which more than
    /// half of it was launched; "called from" it by a thread that has none, "captured at" it in a
    /// CUDA graph. Empty if there is no such line.
    std::string launched;
    bool operator==(const Contributor&) const = default;
};

/// A step that took much longer than its like, and what it spent the time on. Much longer: beyond
/// the third quartile by three times the interquartile range (Tukey's outer fence), and by at least
/// 3 % of the median.
struct OutlierStep {
    int64_t number = 0;
    std::string name;
    int64_t startNs = 0;
    int64_t wallNs = 0;
    int64_t excessNs = 0;               ///< Over the median step.
    StepPart part = StepPart::Compute;  ///< The one that grew most.
    int64_t partExcessNs = 0;           ///< Over the median of that part.
    /// The contributor of that part that grew most over its mean; empty if none is known.
    std::string contributor;
    std::string path;
    /// Of several runs together which one it is of: "PID 4242, GPU 0 of run3.sqlite"; else empty.
    std::string run = {};
    bool operator==(const OutlierStep&) const = default;
};

/// How fast the SMs of a worker's GPU ran in its steps while the same reasons held its clocks down.
struct ClockState {
    uint64_t reasons = 0;   ///< Bits of `throttleReasons` that slow down; 0 where none did.
    int64_t ns = 0;         ///< Of the steps.
    int64_t smClockHz = 0;  ///< Mean of what was read meanwhile; 0 if nothing was.
    /// The longest time of it in which the SMs ran no faster than that mean; 0 without reasons or
    /// readings.
    int64_t longestStartNs = 0;
    int64_t longestNs = 0;
    bool operator==(const ClockState&) const = default;
};

/// The time from one step to the next that belongs to neither, as of evaluations and checkpoints.
struct StepPauses {
    int64_t count = 0;
    int64_t idleNs = 0;  ///< In which the GPU had no work of the worker, summed.
    int64_t longestStartNs = 0;
    int64_t longestNs = 0;  ///< Of the pause with most idle time.
    int64_t ns = 0;         ///< Of all of them.
    bool operator==(const StepPauses&) const = default;
};

/// The time between two requests in which the thread that launches their work was seen to wait.
struct RestBetween {
    int64_t ns = 0;    ///< Summed.
    std::string name;  ///< "on the main thread at serve.py:10 in take, which waits for input".
    bool operator==(const RestBetween&) const = default;
};

/// What the threads that load data for a worker did in its steps, summed over them.
struct LoaderTimes {
    int64_t threads = 0;  ///< 0: there are none, or nobody looked.
    int64_t knownNs = 0;  ///< Of which something is known.
    int64_t ranNs = 0, noCoreNs = 0;
    int64_t inputNs = 0;  ///< In which they waited for input or a disk.
    bool operator==(const LoaderTimes&) const = default;
};

/// Threads that were ready to run and had no core.
struct CoreWaits {
    int64_t threads = 0;  ///< Those that were so for more than a little.
    int64_t ns = 0;       ///< For how long, summed over these.
    bool operator==(const CoreWaits&) const = default;
};

/// The calls that launched the kernels of the steps, as they were while somebody recorded.
struct LaunchTimes {
    int64_t count = 0;     ///< Each once, however many kernels it launched, as of a graph.
    int64_t medianNs = 0;  ///< How long one took; 0 without any.
    /// From where most of them came, as `Contributor::launched`, and how many: empty and 0 if no
    /// line made a fifth of them.
    std::string place = {};
    int64_t placeCount = 0;
    bool operator==(const LaunchTimes&) const = default;
};

/// One process on one GPU, the unit in which time is explained.
struct WorkerSummary {
    uint32_t pid = 0;
    std::optional<int> rank;
    std::string processName;
    int64_t gpuId = 0;
    std::string gpuName;
    bool endedAbnormally = false;
    int64_t foundSteps = 0;      ///< In the run.
    int64_t warmUpSteps = 0;     ///< Of these left out at the beginning.
    bool isLastLeftOut = false;  ///< No next step ends it.
    /// From the start of its first work on the GPU to the end of its last, whether in steps or not.
    int64_t workNs = 0;
    std::vector<StepSummary> steps;
    std::vector<Contributor> contributors;  ///< By part, then by `exposedNs`, greatest first.
    std::vector<OutlierStep> outliers;      ///< Longest first; at most `mostOutliers`.
    StepPauses pauses;
    RestBetween rest;  ///< Of `pauses`; nothing of steps that are no requests.
    /// By reasons, each once; empty where nobody read why clocks are held down.
    std::vector<ClockState> clocks;
    int64_t highestSmClockHz = 0;  ///< At which its GPU was seen in the whole run; 0 if unknown.
    /// Processor time that the limit of its control group held back in the steps; nothing if that
    /// is not known.
    std::optional<int64_t> heldBackNs;
    LoaderTimes loaders;
    LaunchTimes launches;
    /// In its steps; nothing where that is not known of any thread of its process.
    std::optional<CoreWaits> coreWaits;

    /// "rank 1, GPU 1" or "PID 4242, GPU 0".
    std::string label() const;
    StepParts totalParts() const;
    int64_t totalWallNs() const;
    /// Which share of `workNs` its steps take: what is said of them says nothing of the rest.
    /// Nothing if that is not known.
    std::optional<double> coverage() const;
    /// Mean of what the NVTX ranges of the steps take on the CPU; nothing without ranges.
    std::optional<int64_t> meanOnCpuNs() const;
    /// "on the CPU, which runs ahead, 4.012 ms" where that is less than the mean step; else empty.
    std::string aheadText() const;
    bool operator==(const WorkerSummary&) const = default;
};
inline constexpr size_t mostOutliers = 8;
inline constexpr size_t fewestStepsForOutliers = 4;
/// Contributors that are listed for each part; what is less goes to one of kind `Others`.
inline constexpr size_t mostContributors = 128;

/// What must be alike for a comparison to mean something, and what a trace says of itself.
struct SummaryFacts {
    std::string title;
    std::string producer;
    std::string driver;
    std::string cuda;
    std::string commandLine;
    std::string host;                   ///< Where it ran; of several hosts that of the recorder.
    int64_t startUtcNs = 0;             ///< When, since 1970; 0 if unknown.
    std::string recordOptions;          ///< What the recorder was asked for, as it keeps it.
    std::vector<std::string> gpuNames;  ///< Of the GPUs that worked, by id.
    /// Mean of their SMs' clocks from the first kernel to the last; 0 if unknown.
    int64_t smClockHz = 0;
    /// Processor time that the control group of the run is allowed, 100 for one core; 0 if that is
    /// not limited, or not known.
    int64_t cpuLimitPercent = 0;
    /// Names of processes that held memory of these GPUs and were not recorded, each once.
    std::vector<std::string> otherGpuProcesses;
    bool isNvlinkPresent = false;  ///< Some pair of GPUs is joined by NVLink.
    int64_t worldSize = 0;         ///< Processes that work on a GPU, or ranks if more.
    int64_t kernelCount = 0;
    bool hasApiCalls = false;
    bool isTruncated = false;  ///< A process ended abnormally or its log was cut.
    /// It was still being recorded when it was summed up: this is the run so far.
    bool isStillRecorded = false;
    /// Drops, untimed events, damage ...: what the health of the trace says, in its words; gravest
    /// first, without times.
    std::vector<HealthNote> healthWarnings;
    uint64_t contentHash = 0;  ///< Equal for equal content; 0 of several runs (`isSameRecording`).

    /// Whether `healthWarnings` say of a process that it ended abnormally.
    bool saysWhoEnded() const;
    /// The gravest of `healthWarnings` that says that the trace is damaged (`isDamage`), for as
    /// long as they stay; null if none does. No gate passes by numbers of such a trace.
    const HealthNote* damage() const;
    bool operator==(const SummaryFacts&) const = default;
};

/// What the GPUs of a run sent over NVLink, as far as the trace tells (`judgeNvlink`).
struct NvlinkTraffic {
    NvlinkVerdict::Use use = NvlinkVerdict::Use::Unknown;
    LinkEvidence evidence = LinkEvidence::None;
    /// Of one process in the median one of the compared steps; nothing if unknown.
    std::optional<int64_t> bytesPerStep;
    LinkEvidence stepEvidence = LinkEvidence::None;  ///< Of `bytesPerStep`.
    int64_t bestBytesPerSecond = 0;  ///< Of what the verdict rests on; 0 if nothing.
    bool operator==(const NvlinkTraffic&) const = default;
};

/// Everything that a comparison needs to know of a run. Small: grows with the number of steps, not
/// with the number of events.
struct RunSummary {
    SummaryFacts facts;
    StepSource source = StepSource::WholeRun;
    StepKind kind = StepKind::Step;
    int64_t rangesPerStep = 1;           ///< As `RunSteps::rangesPerStep`.
    std::string pattern;                 ///< Of the steps: "step #".
    std::vector<WorkerSummary> workers;  ///< By rank, process id and GPU.
    NvlinkTraffic nvlink;

    bool isEmpty() const;
    /// The worker that the others wait for: the one whose mean step, less its exposed communication
    /// and its waiting for ranks, is longest. `noIndex` if no worker has steps.
    uint32_t criticalWorker() const;
    bool operator==(const RunSummary&) const = default;
};

/// Told how far a summary has come, in [0, 1]; returns false to cancel.
using SummaryProgress = std::function<bool(double fraction)>;

/// Sums up a run. Fails if the selection does not fit the run or if cancelled, with a sentence; an
/// empty trace gives an empty summary. O(n log n) in the events; any thread.
Result<RunSummary> summarizeRun(const Trace& trace, const StepSelection& selection = {},
                                const SummaryProgress& progress = {});

/// The mean step of a worker in multiples of a quantum, rounded so that all of it sums up.
struct MeanStep {
    int64_t ns = 0;
    StepParts parts;                 ///< They sum to `ns`.
    std::vector<int64_t> exposedNs;  ///< By contributor; those of a part sum to it.
};

/// All 0 without steps. O(parts * contributors).
MeanStep meanStep(const WorkerSummary& worker, int64_t quantumNs);

/// `values` divided by `count`, rounded down or up so that they sum to `sum`, which must lie
/// between the sum of all rounded down and of all rounded up. What is rounded up are the greatest
/// remainders, of equal ones the first (Hamilton's method).
std::vector<int64_t> shareOut(std::span<const int64_t> values, int64_t count, int64_t sum);

/// Says of a run of which worker most steps take no time, which no program can: work that seems to
/// last beyond the steps behind it leaves nothing for these, as where its end is damaged. Nobody
/// can judge by such steps. Empty if there is no such worker. O(steps); any thread.
std::string timelessSentence(const RunSummary& run);

}  // namespace lanescope::analysis
