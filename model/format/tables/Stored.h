// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

// Results that are computed from the events when a recording is finished, so that later commands need not read the
// events. All share one version, `storedVersion`. `model/compare` writes and reads the tables of a comparison,
// `model/fleet` writes the additional ones of a fleet report. A rank's summary is a file with the same tables.

struct StoredFacts : TableOf<StoredFacts> {
    constexpr StoredFacts() : TableOf("LANESCOPE_STORED", "a fact of what is stored or of the run") {}

    Text<"name"> name{this, "the fact; gpuName may come several times"};
    OptionalAny<"value"> value{this, "a number or a text"};
};
inline constexpr StoredFacts storedFacts;

struct StoredHealth : TableOf<StoredHealth> {
    constexpr StoredHealth() : TableOf("LANESCOPE_STORED_HEALTH", "a warning about the run, most severe first") {}

    Integer<"severity"> severity{this, "as in LANESCOPE_HEALTH"};
    Text<"code"> code{this, "as in LANESCOPE_HEALTH; it may be one of a reader"};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about; NULL for the whole run"};
    OptionalInteger<"count"> count{this, "how many; NULL if not countable"};
    Text<"sentence"> sentence{this, "for the user"};
};
inline constexpr StoredHealth storedHealth;

struct StoredWorkers : TableOf<StoredWorkers> {
    constexpr StoredWorkers() : TableOf("LANESCOPE_STORED_WORKERS", "a worker: one process on one GPU") {}

    Integer<"worker"> worker{this, "its number, from 0"};
    Integer<"pid"> pid{this, "a plain PID"};
    OptionalInteger<"rank"> rank{this, "of a distributed job; NULL outside one"};
    OptionalText<"processName"> processName{this, "as on its command line"};
    Integer<"gpuId"> gpuId{this, "the GPU"};
    OptionalText<"gpuName"> gpuName{this, "as the driver calls it"};
    Integer<"endedAbnormally"> endedAbnormally{this, "1: the last of its events may be missing"};
    Integer<"foundSteps"> foundSteps{this, "how many steps were found"};
    Integer<"warmUpSteps"> warmUpSteps{this, "how many were skipped at the start"};
    Integer<"isLastLeftOut"> isLastLeftOut{this, "1: the last was incomplete and skipped"};
    Integer<"workNs"> workNs{this, "from the start of its first work on the GPU to the end of its last, ns"};
    Integer<"pauses"> pauses{this, "how often the next step did not follow at once"};
    Integer<"pauseNs"> pauseNs{this, "how long all of these take, ns"};
    Integer<"pauseIdleNs"> pauseIdleNs{this, "between steps, without GPU work, ns"};
    Integer<"longestPauseStartNs"> longestPauseStartNs{this, "when the pause with most of that began, ns"};
    Integer<"longestPauseNs"> longestPauseNs{this, "how long that took, ns"};
    Integer<"highestSmClockHz"> highestSmClockHz{this, "of its GPU in the whole run, Hz; 0 if unknown"};
    OptionalInteger<"heldBackNs"> heldBackNs{this,
                                             "processor time that a limit held back in the steps, ns; NULL if unknown"};
    Integer<"loaderThreads"> loaderThreads{this, "how many of its data loader threads were sampled in the steps"};
    Integer<"loaderKnownNs"> loaderKnownNs{this, "for how long, summed over them, ns"};
    Integer<"loaderRanNs"> loaderRanNs{this, "of that, in which they ran, ns"};
    Integer<"loaderNoCoreNs"> loaderNoCoreNs{this, "in which they were runnable, ns"};
    Integer<"loaderInputNs"> loaderInputNs{this, "in which they waited for input or a disk, ns"};
    OptionalInteger<"noCoreThreads"> noCoreThreads{
        this, "how many threads of its process lacked a core in the steps; NULL if unknown"};
    OptionalInteger<"noCoreNs"> noCoreNs{this, "for how long, summed over them, ns"};
    Integer<"launches"> launches{this, "how many calls launched the kernels of the steps"};
    Integer<"launchNs"> launchNs{this, "their median time, ns; 0 without any"};
    Text<"launchPlace"> launchPlace{this, "the line that made most of them; may be empty"};
    Integer<"launchesThere"> launchesThere{this, "how many that line made"};
    Integer<"allocations"> allocations{this, "calls in the steps that allocate memory"};
    Integer<"frees"> frees{this, "calls in the steps that free memory"};
    Text<"freedAt"> freedAt{this, "the line of Python that made most of these; may be empty"};
    Integer<"hasTensorFloat"> hasTensorFloat{this, "1 if the GPU multiplies matrices as TF32"};
    Integer<"drains"> drains{this, "waits for the GPU in which it ran out of work"};
    Integer<"orderedStreams"> orderedStreams{this, "streams of which work never overlaps, ordered by the default one"};
    Integer<"defaultOperations"> defaultOperations{this, "operations on the default stream in the steps"};
    Integer<"usedMemoryBytes"> usedMemoryBytes{this, "maximum used memory of the GPU; 0 if unknown"};
    Integer<"memoryBytes"> memoryBytes{this, "memory of the GPU; 0 if unknown"};
    Integer<"singleRate"> singleRate{this, "measured operations per second of products of fp32; 0 if unknown"};
    Integer<"tensorFloatRate"> tensorFloatRate{this, "the same of TF32"};
    Integer<"restNs"> restNs{this, "in which it was seen to wait for the next request, ns"};
    OptionalInteger<"restCause"> restCause{this, "number of the cause that tells where it did, and for what"};
};
inline constexpr StoredWorkers storedWorkers;

struct StoredGpuClocks : TableOf<StoredGpuClocks> {
    constexpr StoredGpuClocks()
        : TableOf("LANESCOPE_STORED_GPU_CLOCKS",
                  "how fast a GPU ran in the steps while the same reasons held its clocks down") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"reasons"> reasons{this, "bits as of NVML that slow down; 0 for none"};
    Integer<"ns"> ns{this, "how long in the steps, ns"};
    Integer<"smClockHz"> smClockHz{this, "mean clock of the SMs meanwhile, Hz; 0 if unknown"};
    Integer<"longestStartNs"> longestStartNs{this,
                                             "of the longest time of it in which they ran no faster than that, ns"};
    Integer<"longestNs"> longestNs{this, "how long that was, ns; 0 if unknown, or without reasons"};
};
inline constexpr StoredGpuClocks storedGpuClocks;

struct StoredSteps : TableOf<StoredSteps> {
    constexpr StoredSteps() : TableOf("LANESCOPE_STORED_STEPS", "a step; its parts sum to wallNs") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"number"> number{this, "of the step, from 0, warm-up included"};
    OptionalText<"name"> name{this, "of the step"};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    Integer<"wallNs"> wallNs{this, "how long it took on the GPU, ns"};
    OptionalInteger<"onCpuNs"> onCpuNs{this, "how long its NVTX range took on the CPU, ns"};
    OptionalInteger<"activePerSecond"> activePerSecond{this, "as in LANESCOPE_STORED_USES; NULL if unknown"};
};
inline constexpr StoredSteps storedSteps;

struct StoredParts : TableOf<StoredParts> {
    constexpr StoredParts() : TableOf("LANESCOPE_STORED_PARTS", "a part of a step; parts without time are omitted") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"step"> step{this, "place of the step among those of its worker, from 0"};
    Text<"part"> part{this, "the part, by its identifier"};
    Integer<"ns"> ns{this, "how much of the step, ns"};
};
inline constexpr StoredParts storedParts;

struct StoredContributors : TableOf<StoredContributors> {
    constexpr StoredContributors()
        : TableOf("LANESCOPE_STORED_CONTRIBUTORS", "what a part is made of, over all steps") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"part"> part{this, "the part, by its identifier"};
    Text<"kind"> kind{this, "what contributes, by its identifier"};
    Text<"trait"> trait{this, "what else is known of it, by its identifier"};
    Text<"name"> name{this, "name of the work; empty for idle time"};
    OptionalInteger<"cause"> cause{this, "number of the cause of idle time; NULL for work"};
    Text<"path"> path{this, "NVTX ranges around it"};
    Integer<"count"> count{this, "how many there were"};
    Integer<"exposedNs"> exposedNs{this, "sums to the part over all steps, ns"};
    Integer<"totalNs"> totalNs{this, "with overlapped time, ns"};
    Integer<"bytes"> bytes{this, "bytes"};
    Integer<"busBytes"> busBytes{this, "bytes that each link carried"};
    Integer<"firstPlace"> firstPlace{this, "in the first step that has it"};
    Integer<"waitedNs"> waitedNs{this, "of exposedNs, in which the launching thread cannot have run, ns; 0 if unknown"};
    Integer<"workedNs"> workedNs{this,
                                 "of exposedNs, in which it ran something else for long at a time, ns; 0 if unknown"};
    Integer<"gilNs"> gilNs{this,
                           "of exposedNs, in which it waited for the GIL of a thread without launches, by samples, ns"};
    Text<"launched"> launched{this,
                              "line of Python that launched most of it, or where the thread was seen; may be empty"};
    OptionalText<"phase"> phase{this, "of the run, by its identifier, if it is time outside of the steps"};
};
inline constexpr StoredContributors storedContributors;

struct StoredOutliers : TableOf<StoredOutliers> {
    constexpr StoredOutliers() : TableOf("LANESCOPE_STORED_OUTLIERS", "a step that took much longer") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"number"> number{this, "of the step"};
    OptionalText<"name"> name{this, "of the step"};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    Integer<"wallNs"> wallNs{this, "how long it took, ns"};
    Integer<"excessNs"> excessNs{this, "over the median, ns"};
    Text<"part"> part{this, "that grew most, by its identifier"};
    Integer<"partExcessNs"> partExcessNs{this, "by how much, ns"};
    Text<"contributor"> contributor{this, "work that grew most in it; empty for idle time"};
    OptionalInteger<"cause"> cause{this, "number of the cause that grew most; NULL for work"};
    Text<"path"> path{this, "NVTX ranges around that"};
};
inline constexpr StoredOutliers storedOutliers;

struct StoredDistinctions : TableOf<StoredDistinctions> {
    constexpr StoredDistinctions()
        : TableOf("LANESCOPE_STORED_DISTINCTIONS",
                  "a range, line, thread or start of processes that only some steps or only one rank has") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"of"> of{this, "\"pattern\" or \"outliers\" of its steps, or \"rank\""};
    Text<"kind"> kind{this, "\"range\", \"line\", \"thread\", \"process\" or \"loader\""};
    Text<"name"> name{this, "its name"};
    Integer<"steps"> steps{this, "number of steps that have it"};
    Integer<"ns"> ns{this, "mean time in one of them, ns; 0 for processes"};
    Integer<"count"> count{this, "number of processes that start in these steps"};
    Integer<"others"> others{this, "number of other steps that have it"};
};
inline constexpr StoredDistinctions storedDistinctions;

struct StoredUses : TableOf<StoredUses> {
    constexpr StoredUses()
        : TableOf("LANESCOPE_STORED_USES", "use of a worker's tensor cores; rates are operations a second") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"precision"> precision{this, "number format of the rates and of most products"};
    Integer<"sheetPerSecond"> sheetPerSecond{this, "peak of the data sheet; 0 if unknown"};
    Integer<"measuredPerSecond"> measuredPerSecond{this, "best measured product; 0 if unknown"};
    Text<"sampler"> sampler{this, "source of the readings; may be empty"};
    Integer<"activePerSecond"> activePerSecond{this, "by tensor activity and clock; 0 without readings"};
    Integer<"readings"> readings{this, "number of readings"};
    Integer<"readingNs"> readingNs{this, "longest interval of a reading, ns"};
    Integer<"knownNs"> knownNs{this, "time with readings, ns"};
    Integer<"readSteps"> readSteps{this, "steps with readings; 0 if the readings are of the run"};
    Integer<"isShared"> isShared{this, "1: other processes used the GPU"};
    Integer<"countedSteps"> countedSteps{this, "steps with shapes"};
    Integer<"countedNs"> countedNs{this, "their duration, ns"};
    Integer<"modelPerStep"> modelPerStep{this, "operations of a step by shapes"};
    Integer<"repeatedPerStep"> repeatedPerStep{this, "repeated operations of a step"};
    Integer<"kernelNs"> kernelNs{this, "time of kernels in these steps, ns"};
    Integer<"knownKernelNs"> knownKernelNs{this, "of that, with known shapes, ns"};
};
inline constexpr StoredUses storedUses;

struct StoredShapes : TableOf<StoredShapes> {
    constexpr StoredShapes() : TableOf("LANESCOPE_STORED_SHAPES", "operators of one shape in the steps of a worker") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"kind"> kind{this, "kind of the operator, by its identifier"};
    Text<"operation"> operation{this, "its name"};
    Text<"shape"> shape{this, "its shape"};
    Text<"precision"> precision{this, "number format; may be empty"};
    Text<"place"> place{this, "the line of Python; may be empty"};
    Text<"kernel"> kernel{this, "its longest kernel"};
    Integer<"isRecomputed"> isRecomputed{this, "1: a backward repeats it"};
    Integer<"count"> count{this, "calls"};
    Integer<"kernelNs"> kernelNs{this, "time of their kernels, ns"};
    Integer<"flops"> flops{this, "operations of one call"};
    Integer<"bytes"> bytes{this, "bytes of one call"};
    Integer<"roofNs"> roofNs{this, "shortest time of one call by the roofs, ns; 0 if unknown"};
    Integer<"isMemoryBound"> isMemoryBound{this, "1: the memory binds"};
    Integer<"isMeasured"> isMeasured{this, "1: the roofs were measured"};
};
inline constexpr StoredShapes storedShapes;
struct StoredKernelGroups : TableOf<StoredKernelGroups> {
    constexpr StoredKernelGroups()
        : TableOf("LANESCOPE_STORED_KERNEL_GROUPS", "compute kernels of the steps with the same properties") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"family"> family{this, "kind of computation: \"matrix_product\", \"elementwise\""};
    Text<"precision"> precision{this, "number type of products: \"bf16\"; \"unknown\" for most others"};
    Text<"trait"> trait{this, "property that its name shows, by its identifier"};
    Text<"purpose"> purpose{this, "of its launches by their stacks, by its identifier"};
    Text<"sequence"> sequence{this, "of kernels that a fused kernel would replace, by its identifier"};
    Integer<"isSmallGrid"> isSmallGrid{this, "1: its blocks leave most of the GPU idle"};
    Integer<"count"> count{this, "number of launches"};
    Integer<"exposedNs"> exposedNs{this, "part of the compute time of the steps, ns"};
    Integer<"sequences"> sequences{this, "number of sequences of which it has the longest kernel"};
    Text<"name"> name{this, "the kernel with most time"};
    Text<"launched"> launched{this, "the line of Python with most time; may be empty"};
};
inline constexpr StoredKernelGroups storedKernelGroups;

struct StoredCauses : TableOf<StoredCauses> {
    constexpr StoredCauses() : TableOf("LANESCOPE_STORED_CAUSES", "a cause of idle time: the activity of the CPU") {}

    Integer<"cause"> cause{this, "its number, from 0"};
    Text<"kind"> kind{this, "kind of the cause, by its identifier"};
    Text<"api"> api{this, "API of the GPU, by its identifier"};
    Text<"call"> call{this, "the call that the thread was in or had returned from; may be empty"};
    Text<"copy"> copy{this, "the copy that the call waited for; may be empty"};
    Integer<"isPageable"> isPageable{this, "1: the call copies memory that is not pinned"};
    Text<"thread"> thread{this, "role of the thread, by its identifier"};
    Text<"threadName"> threadName{this, "its name, digits as '#'; may be empty"};
    Text<"file"> file{this, "file of its frame without folders; may be empty"};
    Integer<"line"> line{this, "line in that file; 0 if unknown"};
    Text<"function"> function{this, "function of the frame; may be empty"};
    Text<"work"> work{this, "work of a running thread, by its identifier"};
    Text<"observation"> observation{this, "extent to which its state is known, by its identifier"};
    Integer<"state"> state{this, "as in LANESCOPE_THREAD_STATES"};
    Text<"holder"> holder{this, "role of the thread that has the awaited lock, by its identifier"};
    Text<"holderName"> holderName{this, "its name, digits as '#'; may be empty"};
    Text<"holderFile"> holderFile{this, "file of its frame without folders; may be empty"};
    Integer<"holderLine"> holderLine{this, "line in that file; 0 if unknown"};
    Text<"holderFunction"> holderFunction{this, "function of the frame; may be empty"};
};
inline constexpr StoredCauses storedCauses;

struct StoredPlaces : TableOf<StoredPlaces> {
    constexpr StoredPlaces() : TableOf("LANESCOPE_STORED_PLACES", "where a worker ran, and on which clock") {}

    Integer<"worker"> worker{this, "number of the worker"};
    OptionalText<"host"> host{this, "name of the machine; several may have one name"};
    OptionalText<"bootId"> bootId{this, "of the machine's last boot, which identifies it"};
    OptionalInteger<"localRank"> localRank{this, "rank among the processes of its host"};
    OptionalInteger<"worldSize"> worldSize{this, "how many ranks the job has"};
    OptionalText<"gpuUuid"> gpuUuid{this, "which GPU it is, wherever it is plugged in"};
    Integer<"startNs"> startNs{this, "first event of its process, ns"};
    Integer<"endNs"> endNs{this, "last event or end of its process, ns"};
    OptionalInteger<"clockErrorNs"> clockErrorNs{this, "clock error by the kernel at the end of the recording, ns"};
    OptionalInteger<"clockMostErrorNs"> clockMostErrorNs{this, "how far it may have been, ns"};
};
inline constexpr StoredPlaces storedPlaces;

struct StoredClocks : TableOf<StoredClocks> {
    constexpr StoredClocks() : TableOf("LANESCOPE_STORED_CLOCKS", "the same time on the clocks of a worker's host") {}

    Integer<"worker"> worker{this, "number of the worker"};
    OptionalInteger<"realtimeNs"> realtimeNs{this, "since 1970, ns"};
    OptionalInteger<"monotonicNs"> monotonicNs{this, "the system's monotonic clock, ns"};
};
inline constexpr StoredClocks storedClocks;

struct StoredCommunicators : TableOf<StoredCommunicators> {
    constexpr StoredCommunicators()
        : TableOf("LANESCOPE_STORED_COMMUNICATORS", "an NCCL communicator that a worker is in") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"communicator"> communicator{this, "NCCL's hash, the same in all of its ranks"};
    OptionalText<"name"> name{this, "as the program calls it"};
    OptionalInteger<"rank"> rank{this, "of the worker in it; NULL if NCCL did not report it"};
    OptionalInteger<"ranks"> ranks{this, "how many it has; NULL if NCCL did not report it"};
    Integer<"calls"> calls{this, "recorded, those that are not listed too"};
};
inline constexpr StoredCommunicators storedCommunicators;

struct StoredCollectives : TableOf<StoredCollectives> {
    constexpr StoredCollectives() : TableOf("LANESCOPE_STORED_COLLECTIVES", "an NCCL call of a worker, by start") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"communicator"> communicator{this, "as in LANESCOPE_STORED_COMMUNICATORS"};
    Text<"operation"> operation{this, "\"AllReduce\", \"Send\""};
    Integer<"place"> place{this, "among the recorded calls of this communicator, from 0"};
    Integer<"number"> number{this, "among those of its operation, from 0"};
    Integer<"isNumbered"> isNumbered{this, "1: NCCL counted; 0: counted since recording began"};
    OptionalInteger<"bytes"> bytes{this, "as the rank passed them"};
    OptionalInteger<"step"> step{this, "place of the step that called it; NULL outside of steps"};
    Integer<"callNs"> callNs{this, "when it was called, ns"};
    Integer<"callEndNs"> callEndNs{this, "when the call came back, ns"};
    OptionalInteger<"gpuNs"> gpuNs{this, "when its kernel began, ns; NULL if not known"};
    OptionalInteger<"gpuEndNs"> gpuEndNs{this, "when its kernel ended, ns"};
    Integer<"sharedBy"> sharedBy{this, "how many calls that kernel works for"};
};
inline constexpr StoredCollectives storedCollectives;

struct StoredKernels : TableOf<StoredKernels> {
    constexpr StoredKernels() : TableOf("LANESCOPE_STORED_KERNELS", "the kernels of one name in a range of steps") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"name"> name{this, "short name; empty: all that are not listed"};
    Integer<"step"> step{this, "place of the first step"};
    Integer<"steps"> steps{this, "how many steps"};
    Integer<"count"> count{this, "how many kernels"};
    Integer<"totalNs"> totalNs{this, "their durations, ns"};
    Integer<"mostNs"> maxNs{this, "the longest, ns"};
};
inline constexpr StoredKernels storedKernels;

struct StoredCounters : TableOf<StoredCounters> {
    constexpr StoredCounters() : TableOf("LANESCOPE_STORED_COUNTERS", "a counter from the first step to the last") {}

    Text<"key"> key{this, "as in LANESCOPE_COUNTERS"};
    OptionalInteger<"gpuId"> gpuId{this, "the GPU; NULL for the machine"};
    OptionalText<"gpuUuid"> gpuUuid{this, "the same, by which another rank's is found"};
    OptionalInteger<"link"> link{this, "number of the NVLink"};
    OptionalText<"device"> device{this, "disk or network interface"};
    Real<"mean"> mean{this, "over time; of flags the share of time that any is set that slows"};
    Real<"least"> least{this, "the least"};
    Real<"greatest"> greatest{this, "the greatest; of flags all that were set"};
};
inline constexpr StoredCounters storedCounters;

}  // namespace lanescope::tables
