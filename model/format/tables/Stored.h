// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

// Results computed from the events at the end of a recording, so that later commands need not read the events. All
// tables share one version, `storedVersion`. `model/analysis` writes and reads the summary of the run, `model/fleet`
// writes the additional tables of a fleet report. The summary file of a rank contains the same tables.

inline constexpr struct StoredFacts : TableOf<StoredFacts> {
    constexpr StoredFacts() : TableOf("LANESCOPE_STORED", "a property of the run or of the stored results") {}
    Text<"name"> name{this, "property name; gpuName may occur several times"};
    OptionalAny<"value"> value{this, "integer or text"};
} storedFacts;

inline constexpr struct StoredHealth : TableOf<StoredHealth> {
    constexpr StoredHealth() : TableOf("LANESCOPE_STORED_HEALTH", "a warning about the run; most severe first") {}
    Integer<"severity"> severity{this, "severity, as in LANESCOPE_HEALTH"};
    Text<"code"> code{this, "code, as in LANESCOPE_HEALTH, or a code of a reader"};
    OptionalInteger<"globalPid"> globalPid{this, "packed id of the affected process; NULL for the whole run"};
    OptionalInteger<"count"> count{this, "number of reported items; NULL if not countable"};
    Text<"sentence"> sentence{this, "message for the user"};
} storedHealth;

inline constexpr struct StoredWorkers : TableOf<StoredWorkers> {
    constexpr StoredWorkers() : TableOf("LANESCOPE_STORED_WORKERS", "a worker (one process on one GPU)") {}
    Integer<"worker"> worker{this, "worker number, from 0"};
    Integer<"pid"> pid{this, "PID (not packed)"};
    OptionalInteger<"rank"> rank{this, "rank in the distributed job; NULL without a job"};
    OptionalText<"processName"> processName{this, "program, as on the command line"};
    Integer<"gpuId"> gpuId{this, "GPU number"};
    OptionalText<"gpuName"> gpuName{this, "GPU name reported by the driver"};
    Integer<"endedAbnormally"> endedAbnormally{this, "1: the last events of the process may be missing"};
    Integer<"foundSteps"> foundSteps{this, "number of steps found"};
    Integer<"warmUpSteps"> warmUpSteps{this, "number of steps skipped at the start"};
    Integer<"isLastLeftOut"> isLastLeftOut{this, "1: last step incomplete and skipped"};
    Integer<"workNs"> workNs{this, "time from the start of the first GPU work to the end of the last, ns"};
    Integer<"pauses"> pauses{this, "number of pauses between consecutive steps"};
    Integer<"pauseNs"> pauseNs{this, "total duration of the pauses, ns"};
    Integer<"pauseIdleNs"> pauseIdleNs{this, "time without GPU work in the pauses, ns"};
    Integer<"longestPauseStartNs"> longestPauseStartNs{this, "start time of the pause with the most idle time, ns"};
    Integer<"longestPauseNs"> longestPauseNs{this, "duration of the pause with the most idle time, ns"};
    Integer<"highestSmClockHz"> highestSmClockHz{this,
                                                 "maximum SM clock of the GPU in the whole run, Hz; 0 if unknown"};
    OptionalInteger<"heldBackNs"> heldBackNs{this,
                                             "CPU time withheld in the steps by a CPU limit, ns; NULL if unknown"};
    Integer<"loaderThreads"> loaderThreads{this, "number of data loader threads sampled in the steps"};
    Integer<"loaderKnownNs"> loaderKnownNs{this, "sampled time of the data loader threads, summed, ns"};
    Integer<"loaderRanNs"> loaderRanNs{this, "part of loaderKnownNs spent running, ns"};
    Integer<"loaderNoCoreNs"> loaderNoCoreNs{this, "part of loaderKnownNs spent runnable (waiting for a core), ns"};
    Integer<"loaderInputNs"> loaderInputNs{this, "part of loaderKnownNs spent waiting for input or a disk, ns"};
    OptionalInteger<"noCoreThreads"> noCoreThreads{
        this, "number of threads of the process that were runnable (waiting for a core) in the steps; NULL if unknown"};
    OptionalInteger<"noCoreNs"> noCoreNs{
        this, "runnable time (waiting for a core) of noCoreThreads, summed, ns; NULL if unknown"};
    Integer<"launches"> launches{this, "number of calls that launched kernels of the steps"};
    Integer<"launchNs"> launchNs{this, "median duration of the launching calls, ns; 0 without calls"};
    Text<"launchPlace"> launchPlace{this, "place in Python with the most launching calls; may be empty"};
    Text<"launchLine"> launchLine{this, "line of launchPlace; may be empty"};
    Integer<"launchesThere"> launchesThere{this, "number of launching calls at launchPlace"};
    Integer<"allocations"> allocations{this, "number of allocating calls in the steps"};
    Integer<"frees"> frees{this, "number of deallocating calls in the steps"};
    Text<"freedAt"> freedAt{this, "place in Python with the most deallocating calls; may be empty"};
    Text<"freeLine"> freeLine{this, "line of freedAt; may be empty"};
    Text<"freeCaller"> freeCaller{this, "line of the program that called it; may be empty"};
    Text<"recompiled"> recompiled{this, "XLA program compiled again after the first step; may be empty"};
    Integer<"compilations"> compilations{this, "number of compilations of recompiled in the run; 0 without"};
    Integer<"hasTensorFloat"> hasTensorFloat{this, "1: the GPU supports matrix products in TF32"};
    Integer<"drains"> drains{this, "number of synchronizations in which the GPU ran out of work"};
    Integer<"orderedStreams"> orderedStreams{
        this, "number of streams without overlap, because the default stream serializes them"};
    Integer<"defaultOperations"> defaultOperations{this, "number of operations on the default stream in the steps"};
    Integer<"delayedCopyNs"> delayedCopyNs{
        this, "duration of copies to the GPU that started late because of a wait for awaitedStream, ns"};
    Integer<"awaitedStream"> awaitedStream{this, "stream with most kernels, as in TARGET_INFO_CUDA_STREAM; 0 if none"};
    Text<"copiesWaitAt"> copiesWaitAt{this, "call and Python line of most of these waits; may be empty"};
    Integer<"returnedBytes"> returnedBytes{
        this, "bytes copied to the host, and back by copies of equal size in the same step"};
    Text<"leaveAt"> leaveAt{this, "Python line of most copies of returnedBytes to the host; may be empty"};
    Text<"returnAt"> returnAt{this, "Python line of most copies of returnedBytes back; may be empty"};
    Integer<"usedMemoryBytes"> usedMemoryBytes{this, "maximum used GPU memory, bytes; 0 if unknown"};
    Integer<"memoryBytes"> memoryBytes{this, "GPU memory size, bytes; 0 if unknown"};
    Integer<"singleRate"> singleRate{this, "measured rate of fp32 products, operations per second; 0 if unknown"};
    Integer<"tensorFloatRate"> tensorFloatRate{this,
                                               "measured rate of TF32 products, operations per second; 0 if unknown"};
    Integer<"restNs"> restNs{this, "observed waiting time of the launching thread for the next request, ns"};
    OptionalInteger<"restCause"> restCause{this,
                                           "number in LANESCOPE_STORED_CAUSES of the thread and place of the longest "
                                           "wait for requests; NULL without a wait"};
} storedWorkers;

inline constexpr struct StoredGpuClocks : TableOf<StoredGpuClocks> {
    constexpr StoredGpuClocks()
        : TableOf("LANESCOPE_STORED_GPU_CLOCKS",
                  "the SM clock in the steps of a worker under one set of throttle reasons") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"reasons"> reasons{this, "throttle reasons that reduce the clock, as NVML bits; 0 without reasons"};
    Integer<"ns"> ns{this, "time in the steps, ns"};
    Integer<"smClockHz"> smClockHz{this, "mean SM clock, Hz; 0 if unknown"};
    Integer<"longestStartNs"> longestStartNs{
        this, "start time of the longest interval with an SM clock of at most smClockHz, ns"};
    Integer<"longestNs"> longestNs{this, "duration of the longest interval, ns; 0 if unknown or without reasons"};
} storedGpuClocks;

inline constexpr struct StoredSteps : TableOf<StoredSteps> {
    constexpr StoredSteps()
        : TableOf("LANESCOPE_STORED_STEPS", "a step of a worker; the parts of a step sum to wallNs") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"number"> number{this, "step number, from 0, including warm-up"};
    OptionalText<"name"> name{this, "step name"};
    Integer<"startNs"> startNs{this, "start time, ns"};
    Integer<"wallNs"> wallNs{this, "duration on the GPU, ns"};
    OptionalInteger<"onCpuNs"> onCpuNs{this, "duration of the NVTX range on the CPU, ns; NULL without a range"};
    OptionalInteger<"activePerSecond"> activePerSecond{this, "rate, as in LANESCOPE_STORED_USES; NULL if unknown"};
} storedSteps;

inline constexpr struct StoredParts : TableOf<StoredParts> {
    constexpr StoredParts() : TableOf("LANESCOPE_STORED_PARTS", "a part of a step; parts of 0 ns are omitted") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"step"> step{this, "step index among the steps of the worker, from 0"};
    Text<"part"> part{this, "part, for example \"compute\""};
    Integer<"ns"> ns{this, "time in the step, ns"};
} storedParts;

inline constexpr struct StoredContributors : TableOf<StoredContributors> {
    constexpr StoredContributors()
        : TableOf("LANESCOPE_STORED_CONTRIBUTORS", "a contributor to a part, summed over all steps") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"part"> part{this, "part, for example \"compute\""};
    Text<"kind"> kind{this, "\"kernel\", \"collective\", \"copy\", \"memset\", \"graph\", \"idle\" or \"others\""};
    Text<"trait"> trait{this, "\"none\", \"pageable\", \"allocation\" or \"unknown\""};
    Text<"name"> name{this, "name of the GPU work; empty for idle time"};
    OptionalInteger<"cause"> cause{this,
                                   "cause number, as in LANESCOPE_STORED_CAUSES, for idle time; NULL for GPU work"};
    Text<"path"> path{this, "enclosing NVTX ranges, outermost first; may be empty"};
    Integer<"count"> count{this, "number of kernels, copies or other work, or of idle intervals"};
    Integer<"exposedNs"> exposedNs{this, "exposed time; sums to the part over all steps, ns"};
    Integer<"totalNs"> totalNs{this, "total time including overlapped time, ns"};
    Integer<"bytes"> bytes{this, "size, bytes; 0 if unknown"};
    Integer<"busBytes"> busBytes{this, "bytes per link, for collectives"};
    Integer<"firstPlace"> firstPlace{this, "position of the first launch in the first step with the contributor"};
    Integer<"waitedNs"> waitedNs{
        this, "part of exposedNs in which the launching thread cannot have been running, ns; 0 if unknown"};
    Integer<"workedNs"> workedNs{
        this, "part of exposedNs in which the launching thread was in other code for a long time, ns; 0 if unknown"};
    Integer<"longCount"> longCount{this, "number of such long times, also of waits; 0 if unknown"};
    Integer<"gilNs"> gilNs{
        this, "part of exposedNs spent waiting for the GIL of a thread without launches (estimated from samples), ns"};
    Text<"launched"> launched{this, "place in Python of most launches, or of the idle thread in samples; may be empty"};
    Text<"launchedLine"> launchedLine{this, "line of launched; may be empty"};
    Text<"caller"> caller{this, "line of the program that called it; may be empty"};
    Integer<"isOfCaller"> isOfCaller{
        this, "1: launched is the line of a call for which a thread without Python worked, as in a backward pass"};
    OptionalText<"phase"> phase{
        this, "phase outside the steps, \"start_up\", \"between\" or \"end\"; empty or NULL in the steps"};
} storedContributors;

inline constexpr struct StoredOutliers : TableOf<StoredOutliers> {
    constexpr StoredOutliers() : TableOf("LANESCOPE_STORED_OUTLIERS", "a step much longer than the other steps") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"number"> number{this, "step number"};
    OptionalText<"name"> name{this, "step name"};
    Integer<"startNs"> startNs{this, "start time, ns"};
    Integer<"wallNs"> wallNs{this, "duration, ns"};
    Integer<"excessNs"> excessNs{this, "excess over the median step, ns"};
    Text<"part"> part{this, "part with the largest growth"};
    Integer<"partExcessNs"> partExcessNs{this, "excess of the part over the median, ns"};
    Text<"contributor"> contributor{this, "GPU work with the largest growth in the part; empty for idle time"};
    OptionalInteger<"cause"> cause{
        this, "number in LANESCOPE_STORED_CAUSES of the idle time with the largest growth; NULL for GPU work"};
    Text<"path"> path{this, "enclosing NVTX ranges of the contributor"};
} storedOutliers;

inline constexpr struct StoredForecasts : TableOf<StoredForecasts> {
    constexpr StoredForecasts() : TableOf("LANESCOPE_STORED_FORECASTS", "a forecast of the mean step") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"subject"> subject{this, "removed calls or work: \"sync\", \"memset\" or \"allocation\""};
    Integer<"savedNs"> savedNs{this, "saving of the mean step, ns; negative if the step gets longer"};
    Integer<"marginNs"> marginNs{this, "half of the 95 % interval, ns"};
} storedForecasts;

inline constexpr struct StoredPaths : TableOf<StoredPaths> {
    constexpr StoredPaths()
        : TableOf("LANESCOPE_STORED_PATHS", "time of the critical path of the mean step in one part") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"part"> part{
        this,
        "\"host\", \"loader\", \"unknown_wait\", \"call\", \"kernel\", \"collective\", \"copy\", \"memset\", "
        "\"graph\", \"launch_delay\", \"return_delay\" or \"work_delay\""};
    OptionalInteger<"rank"> rank{this, "rank of the process; NULL without a job"};
    Integer<"pid"> pid{this, "process id"};
    Text<"name"> name{this, "kernel family, call, kind of copy or collective; empty for other parts"};
    Text<"line"> line{this, "Python line; empty if unknown"};
    Integer<"ns"> ns{this, "time per step, ns"};
    Real<"count"> count{this, "number per step"};
} storedPaths;

inline constexpr struct StoredDistinctions : TableOf<StoredDistinctions> {
    constexpr StoredDistinctions()
        : TableOf("LANESCOPE_STORED_DISTINCTIONS",
                  "a range, line, thread or process start found only in some steps or only in one rank") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"of"> of{this, "\"pattern\" or \"outliers\" for some steps, \"rank\" for one rank"};
    Text<"kind"> kind{this, "\"range\", \"line\", \"thread\", \"process\" or \"loader\""};
    Text<"name"> name{this, "name of the range, line, thread or process"};
    Integer<"steps"> steps{this, "number of steps with the range, line, thread or process"};
    Integer<"ns"> ns{this, "mean time per step, ns; 0 for processes"};
    Integer<"count"> count{this, "number of processes started in the steps"};
    Integer<"others"> others{this, "number of other steps with the range, line, thread or process"};
} storedDistinctions;

inline constexpr struct StoredUses : TableOf<StoredUses> {
    constexpr StoredUses()
        : TableOf("LANESCOPE_STORED_USES", "tensor core use of a worker; rates in operations per second") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"precision"> precision{this, "number format of the rates and of most products"};
    Integer<"sheetPerSecond"> sheetPerSecond{this, "peak rate in the data sheet; 0 if unknown"};
    Integer<"measuredPerSecond"> measuredPerSecond{this, "highest measured product rate; 0 if unknown"};
    Text<"sampler"> sampler{this, "source of the readings, \"gpm\" or \"pm\"; empty without readings"};
    Integer<"activePerSecond"> activePerSecond{this,
                                               "rate computed from tensor activity and clock; 0 without readings"};
    Integer<"readings"> readings{this, "number of readings"};
    Integer<"readingNs"> readingNs{this, "longest reading interval, ns"};
    Integer<"knownNs"> knownNs{this, "time covered by readings, ns"};
    Integer<"readSteps"> readSteps{this, "number of steps with readings; 0 if the readings cover the run instead"};
    Integer<"isShared"> isShared{this, "1: other processes used the GPU"};
    Integer<"countedSteps"> countedSteps{this, "number of steps with operator shapes"};
    Integer<"countedNs"> countedNs{this, "duration of countedSteps, summed, ns"};
    Integer<"modelPerStep"> modelPerStep{this, "operations per step by shapes, without repeated operations"};
    Integer<"repeatedPerStep"> repeatedPerStep{this, "repeated operations per step"};
    Integer<"kernelNs"> kernelNs{this, "kernel time in countedSteps, ns"};
    Integer<"knownKernelNs"> knownKernelNs{this, "part of kernelNs in operators with shapes, ns"};
    OptionalReal<"mfu"> mfu{this, "share of the peak, by shapes or else by readings; NULL if unknown"};
} storedUses;

inline constexpr struct StoredShapes : TableOf<StoredShapes> {
    constexpr StoredShapes()
        : TableOf("LANESCOPE_STORED_SHAPES", "operators of equal shape in the steps of a worker") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"kind"> kind{this, "\"product\", \"convolution\", \"attention\" or \"elementwise\""};
    Text<"operation"> operation{this, "operator name"};
    Text<"shape"> shape{this, "operator shape"};
    Text<"precision"> precision{this, "number format; may be empty"};
    Text<"place"> place{this, "Python line; may be empty"};
    Text<"kernel"> kernel{this, "name of the longest kernel"};
    Integer<"isRecomputed"> isRecomputed{this, "1: repeated forward (recomputation)"};
    Integer<"count"> count{this, "number of calls"};
    Integer<"kernelNs"> kernelNs{this, "kernel time, summed, ns"};
    Integer<"flops"> flops{this, "operations per call"};
    Integer<"bytes"> bytes{this, "bytes per call"};
    Integer<"roofNs"> roofNs{this, "shortest possible time per call by the roofs, ns; 0 if unknown"};
    Integer<"isMemoryBound"> isMemoryBound{this, "1: limited by memory"};
    Integer<"isMeasured"> isMeasured{this, "1: limiting roof was measured"};
} storedShapes;
inline constexpr struct StoredKernelGroups : TableOf<StoredKernelGroups> {
    constexpr StoredKernelGroups()
        : TableOf("LANESCOPE_STORED_KERNEL_GROUPS", "compute kernels of the steps with equal properties") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"family"> family{this, "kind of computation, for example \"matrix_product\" or \"elementwise\""};
    Text<"precision"> precision{this,
                                "number format of products, for example \"bf16\"; \"unknown\" for most other kernels"};
    Text<"trait"> trait{this, "property in the kernel name, for example \"none\" or \"channels_first\""};
    Text<"purpose"> purpose{this, "purpose of the launches by Python stack, for example \"none\" or \"optimizer\""};
    Text<"sequence"> sequence{this,
                              "sequence replaceable by a fused kernel, \"none\", \"chain\", \"loop\" or \"attention\""};
    Integer<"isSmallGrid"> isSmallGrid{this, "1: too few blocks, so that most SMs are idle"};
    Integer<"count"> count{this, "number of launches"};
    Integer<"exposedNs"> exposedNs{this, "exposed part of the compute time of the steps, ns"};
    Integer<"sequences"> sequences{this, "number of sequences whose longest kernel belongs to the group"};
    Integer<"savedNs"> savedNs{this, "time that fused kernels save in those sequences, ns"};
    Text<"name"> name{this, "name of the kernel with the most time"};
    Text<"launched"> launched{this, "Python line with the most time; may be empty"};
    Text<"written"> written{this, "Python line with the most time outside of backward passes; may be empty"};
} storedKernelGroups;
inline constexpr struct StoredCode : TableOf<StoredCode> {
    constexpr StoredCode() : TableOf("LANESCOPE_STORED_CODE", "the text of a Python line that an explanation names") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"place"> place{this, "file, line and function, for example \"train.py:212 in GPT.forward\""};
    Text<"line"> line{this, "file and line"};
    Text<"code"> code{this, "text of the line when it was recorded, without indentation"};
} storedCode;

inline constexpr struct StoredCauses : TableOf<StoredCauses> {
    constexpr StoredCauses() : TableOf("LANESCOPE_STORED_CAUSES", "a cause of idle time, by CPU activity") {}
    Integer<"cause"> cause{this, "cause number, from 0"};
    Text<"kind"> kind{this, "kind of cause, for example \"in_call\" or \"outside_calls\""};
    Text<"api"> api{this, "GPU API, \"cuda\" or \"hip\""};
    Text<"call"> call{this, "current or previous call of the thread; may be empty"};
    Text<"copy"> copy{this, "copy awaited by the call; may be empty"};
    Integer<"isPageable"> isPageable{this, "1: the call copies pageable memory"};
    Text<"thread"> thread{this, "role of the thread, \"none\", \"main\", \"named\" or \"other\""};
    Text<"threadName"> threadName{this, "thread name, with digits as '#'; may be empty"};
    Text<"file"> file{this, "file of the frame, without folders; may be empty"};
    Integer<"line"> line{this, "line in the file; 0 if unknown"};
    Text<"function"> function{this, "function of the frame; may be empty"};
    Text<"work"> work{this, "activity of a running thread, for example \"unknown\" or \"garbage_collection\""};
    Text<"observation"> observation{this,
                                    "evidence of the state, \"none\", \"state\", \"alternating\" or \"without_core\""};
    Integer<"state"> state{this, "thread state, as in LANESCOPE_THREAD_STATES"};
    Text<"holder"> holder{this, "role of the thread with the awaited lock, as in column thread"};
    Text<"holderName"> holderName{this, "name of the thread with the lock, with digits as '#'; may be empty"};
    Text<"holderFile"> holderFile{this, "file of the frame of the thread with the lock, without folders; may be empty"};
    Integer<"holderLine"> holderLine{this, "line in holderFile; 0 if unknown"};
    Text<"holderFunction"> holderFunction{this, "function of the frame of the thread with the lock; may be empty"};
} storedCauses;

inline constexpr struct StoredPlaces : TableOf<StoredPlaces> {
    constexpr StoredPlaces() : TableOf("LANESCOPE_STORED_PLACES", "the machine, GPU and clock of a worker") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    OptionalText<"host"> host{this, "machine name, not unique; NULL if unknown"};
    OptionalText<"bootId"> bootId{this, "id of the last boot, which identifies the machine; NULL if unknown"};
    OptionalInteger<"localRank"> localRank{this, "rank within the host"};
    OptionalInteger<"worldSize"> worldSize{this, "number of ranks of the job"};
    OptionalText<"gpuUuid"> gpuUuid{this, "UUID of the GPU, independent of the slot; NULL if unknown"};
    Integer<"startNs"> startNs{this, "time of the first event of the process, ns"};
    Integer<"endNs"> endNs{this, "time of the last event or end of the process, ns"};
    OptionalInteger<"clockErrorNs"> clockErrorNs{
        this, "kernel's estimate of the clock error at the end of the recording, ns; NULL if unknown"};
    OptionalInteger<"clockMostErrorNs"> clockMostErrorNs{
        this, "kernel's bound of the clock error at the end of the recording, ns; NULL if unknown"};
} storedPlaces;

inline constexpr struct StoredClocks : TableOf<StoredClocks> {
    constexpr StoredClocks() : TableOf("LANESCOPE_STORED_CLOCKS", "one time on two clocks of a worker's host") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    OptionalInteger<"realtimeNs"> realtimeNs{this, "UTC time since 1970, ns"};
    OptionalInteger<"monotonicNs"> monotonicNs{this, "monotonic system clock, ns"};
} storedClocks;

inline constexpr struct StoredCommunicators : TableOf<StoredCommunicators> {
    constexpr StoredCommunicators() : TableOf("LANESCOPE_STORED_COMMUNICATORS", "an NCCL communicator of a worker") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"communicator"> communicator{this, "NCCL's hash of the communicator, equal in all ranks"};
    OptionalText<"name"> name{this, "communicator name in the program"};
    OptionalInteger<"rank"> rank{this, "rank of the worker in the communicator; NULL if not reported by NCCL"};
    OptionalInteger<"ranks"> ranks{this, "number of ranks; NULL if not reported by NCCL"};
    Integer<"calls"> calls{this, "number of recorded calls, including calls not listed"};
} storedCommunicators;

inline constexpr struct StoredCollectives : TableOf<StoredCollectives> {
    constexpr StoredCollectives()
        : TableOf("LANESCOPE_STORED_COLLECTIVES", "an NCCL call of a worker; sorted by start") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Integer<"communicator"> communicator{this, "communicator, as in LANESCOPE_STORED_COMMUNICATORS"};
    Text<"operation"> operation{this, "operation, for example \"AllReduce\" or \"Send\""};
    Integer<"place"> place{this, "call number among the recorded calls of the communicator, from 0"};
    Integer<"number"> number{this, "call number among the calls of the operation in the communicator, from 0"};
    Integer<"isNumbered"> isNumbered{this, "1: number counted by NCCL, 0: counted since the start of the recording"};
    OptionalInteger<"bytes"> bytes{this, "size passed by the rank, bytes; NULL if unknown"};
    OptionalInteger<"step"> step{this, "index of the calling step; NULL outside the steps"};
    Integer<"callNs"> callNs{this, "start time of the call, ns"};
    Integer<"callEndNs"> callEndNs{this, "time of return of the call, ns"};
    OptionalInteger<"gpuNs"> gpuNs{this, "start time of the kernel, ns; NULL if unknown"};
    OptionalInteger<"gpuEndNs"> gpuEndNs{this, "end time of the kernel, ns; NULL if unknown"};
    Integer<"sharedBy"> sharedBy{this, "number of calls that share the kernel"};
} storedCollectives;

inline constexpr struct StoredKernels : TableOf<StoredKernels> {
    constexpr StoredKernels() : TableOf("LANESCOPE_STORED_KERNELS", "the kernels of equal name in a range of steps") {}
    Integer<"worker"> worker{this, "worker number, as in LANESCOPE_STORED_WORKERS"};
    Text<"name"> name{this, "short kernel name; empty for all kernels not listed by name"};
    Integer<"step"> step{this, "index of the first step"};
    Integer<"steps"> steps{this, "number of steps"};
    Integer<"count"> count{this, "number of kernels"};
    Integer<"totalNs"> totalNs{this, "total duration, ns"};
    Integer<"mostNs"> maxNs{this, "longest duration, ns"};
} storedKernels;

inline constexpr struct StoredCounters : TableOf<StoredCounters> {
    constexpr StoredCounters()
        : TableOf("LANESCOPE_STORED_COUNTERS", "a counter summary from the first step to the last") {}
    Text<"key"> key{this, "counter, as name in LANESCOPE_COUNTERS"};
    OptionalInteger<"gpuId"> gpuId{this, "GPU number; NULL for counters of the machine"};
    OptionalText<"gpuUuid"> gpuUuid{this, "UUID of the GPU, for matching with other ranks"};
    OptionalInteger<"link"> link{this, "NVLink number"};
    OptionalText<"device"> device{this, "disk or network interface"};
    Real<"mean"> mean{this, "mean over time; for flags, share of the time with any throttling flag"};
    Real<"least"> least{this, "minimum"};
    Real<"greatest"> greatest{this, "maximum; for flags, all flags that were set"};
} storedCounters;

}  // namespace lanescope::tables
