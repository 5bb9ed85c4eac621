// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/LogFormat.h"
#include "model/format/health.h"

namespace lanescope::log {

// What the agent writes down. Times are nanoseconds of the time of events (`clocks.h`), which CUPTI
// and the agent read; a GPU time of 0 to 0 means "not timed". Strings are ids of `StringRecord`s
// that stand earlier in the same log; 0 is "none". Kinds and memory kinds keep CUPTI's numbers; the
// collector translates.

enum class RecordKind : uint16_t {
    String = 1,
    Property = 2,
    Kernel = 3,
    Memcpy = 4,
    Memset = 5,
    Api = 6,
    Sync = 7,
    CudaEvent = 8,
    Overhead = 9,
    Device = 10,
    Context = 11,
    Stream = 12,
    Graph = 13,
    DeviceMemory = 14,
    MemoryPool = 15,
    UnifiedMemory = 16,
    Stack = 17,
    GraphNode = 18,
    Nvtx = 20,
    NvtxDomain = 21,
    NvtxCategory = 22,
    NvtxSchema = 23,
    NvtxSchemaEntry = 24,
    NvtxEnum = 25,
    NvtxEnumEntry = 26,
    ThreadName = 30,
    Clock = 31,
    Dropped = 32,
    Note = 33,
    End = 34,
    Window = 35,
    NcclCommunicator = 40,
    NcclOperation = 41,
    NcclStop = 42,
    Counter = 50,
    Samples = 51,
    SampledGpu = 52,
    GpuProcess = 53,
    SamplingMoment = 54,
    GpuMetric = 55,
    GpuMetricSamples = 56,
    WatchedProcess = 57,
    WatchedThread = 58,
    ThreadRun = 59,
};

/// Followed by `length` bytes of text, padded with zeros.
struct StringRecord {
    RecordHeader header;
    uint32_t id;
    uint32_t length;
};

/// A fact about the process or its machine: "program", "rank", "cuptiVersion". Strings by id.
struct PropertyRecord {
    RecordHeader header;
    uint32_t name;
    uint32_t value;
};

struct KernelRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint64_t graphNodeId;  ///< 0 outside a graph.
    int64_t gridId;
    uint32_t name;  ///< Mangled.
    uint32_t deviceId, contextId, streamId, correlationId, graphId;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t registersPerThread, staticSharedBytes, dynamicSharedBytes;
    uint32_t localBytesPerThread, sharedBytesExecuted;
    uint64_t localBytesTotal;
    uint8_t cacheConfig, launchType, sharedMemoryLimitConfig, clusterSchedulingPolicy;
    uint32_t sharedMemoryCarveoutPercent;
};

struct MemcpyRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint64_t bytes, graphNodeId;
    uint32_t deviceId, contextId, streamId, correlationId, graphId;
    uint32_t sourceDeviceId, sourceContextId, destinationDeviceId,
        destinationContextId;                       ///< PtoP only.
    uint8_t copyKind, sourceKind, destinationKind;  ///< CUPTI's numbers.
    uint8_t isAsync;
    uint8_t isPeer;  ///< The four peer fields are filled.
    uint8_t reserved[3];
};

struct MemsetRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint64_t bytes, graphNodeId;
    uint32_t deviceId, contextId, streamId, correlationId, graphId, value;
    uint8_t memoryKind, isAsync;
    uint8_t reserved[6];
};

struct ApiRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint32_t name;
    uint32_t threadId;  ///< The kernel's (gettid).
    uint32_t correlationId;
    int32_t returnValue;
    uint32_t isDriver;
    uint32_t stack;  ///< Of a `StackRecord` of this log; 0 if there was none.
};

struct SyncRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint32_t type;  ///< CUPTI's numbers, which are the file's.
    uint32_t contextId, streamId, correlationId, eventId,
        eventSyncId;  ///< 0xffffffff: does not apply.
};

struct CudaEventRecord {
    RecordHeader header;
    int64_t timestampNs;  ///< 0: CUPTI gave none.
    uint32_t deviceId, contextId, streamId, correlationId, eventId, eventSyncId;
};

struct OverheadRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint32_t overheadKind;  ///< CUPTI's number.
    uint32_t threadId;      ///< 0 if the overhead is not a thread's.
    uint32_t correlationId;
    uint32_t reserved;
};

/// A CUDA device as this process numbers it.
struct DeviceRecord {
    RecordHeader header;
    uint8_t uuid[16];
    uint64_t memoryBytes, memoryBandwidthKBps;
    uint32_t deviceId, name;
    uint32_t computeMajor, computeMinor, smCount, coreClockKHz, l2Bytes, constantBytes;
    uint32_t maxThreadsPerBlock, maxRegistersPerBlock, maxSharedBytesPerBlock, maxWarpsPerSm;
    uint32_t maxBlocksPerSm, threadsPerWarp, copyEngines, maxRegistersPerSm, maxSharedBytesPerSm;
    uint32_t maxBlockDim[3], maxGridDim[3];
    uint32_t reserved;
};

struct ContextRecord {
    RecordHeader header;
    uint32_t contextId, deviceId, nullStreamId, reserved;
};

struct StreamRecord {
    RecordHeader header;
    uint32_t contextId, streamId, priority, flag;
};

/// One launch of a CUDA graph that is recorded as a whole.
struct GraphRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    uint32_t graphId, deviceId, contextId, streamId, correlationId, reserved;
};

/// Memory was allocated or freed: device memory, pinned or managed memory, memory of a pool.
struct DeviceMemoryRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t address, bytes;
    uint64_t programCounter;
    uint64_t poolAddress;  ///< 0 outside a pool; the next three as well.
    uint64_t poolReleaseThreshold, poolBytes, poolUsedBytes;
    uint32_t poolProcessId;  ///< Whose pool it is, if it was imported.
    uint32_t deviceId, contextId, streamId, correlationId;
    uint32_t name;       ///< Of the variable, for a module's own memory.
    uint8_t operation;   ///< CUPTI's number: 1 allocated, 2 freed.
    uint8_t memoryKind;  ///< CUPTI's number.
    uint8_t isAsync;
    uint8_t poolType;  ///< CUPTI's number: 1 of this process, 2 imported.
    uint32_t reserved;
};

/// A memory pool was created, destroyed or trimmed.
struct MemoryPoolRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t address, bytes, releaseThreshold, usedBytes, minimumBytesToKeep;
    uint32_t deviceId, correlationId, processId;
    uint8_t operation;  ///< CUPTI's number: 1 created, 2 destroyed, 3 trimmed.
    uint8_t poolType;
    uint8_t reserved[2];
};

/// Managed memory moved or was missed: a migration, faults, thrashing, throttling.
struct UnifiedMemoryRecord {
    RecordHeader header;
    int64_t startNs, endNs;  ///< `endNs` 0: a moment.
    uint64_t value;          ///< Bytes moved, or how many faults; as `counterKind` says.
    uint64_t address;
    uint32_t counterKind;              ///< CUPTI's number.
    uint32_t sourceId, destinationId;  ///< Devices; 0xffffffff is the CPU.
    uint32_t flags;                    ///< CUPTI's: why it moved, how it was accessed.
    uint32_t streamId, processId;
};

/// The process began (or ceased) to keep what it sees; see `record --steps` and its like. A process
/// without such records keeps everything from its first moment on.
struct WindowRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint32_t index;    ///< Counts the windows of the process from 0.
    uint32_t isBegin;  ///< 1 begins it, 0 ends it.
};

enum class NvtxEvent : uint8_t { Push = 1, Pop = 2, Start = 3, End = 4, Mark = 5 };
/// Which member of the NVTX payload union is set; `None` if the program passed none.
enum class NvtxPayload : uint8_t {
    None = 0,
    UInt64 = 1,
    Int64 = 2,
    Double = 3,
    UInt32 = 4,
    Int32 = 5,
    Float = 6
};

/// One NVTX call. Followed by `extendedBytes` bytes of payload laid out as schema `schemaId` of the
/// domain says, padded with zeros. `RecordHeader::flags` 1: the payload was cut short.
struct NvtxRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t rangeId;      ///< Start and End: which range. Push and Pop: 0.
    uint64_t payloadBits;  ///< As `payload` says; a 4-byte payload in the low half.
    uint64_t schemaId;     ///< 0 without extended payload.
    uint32_t threadId;
    uint32_t domain;  ///< 0 is the default domain.
    uint32_t text;
    uint32_t category;
    uint32_t colorArgb;  ///< 0 if none was given.
    int32_t
        level;  ///< Push: how many ranges of the thread and domain were open before. Pop: after.
    uint16_t extendedBytes;
    uint16_t upperStack;  ///< See `stackOf`, as of the last field.
    NvtxEvent event;
    NvtxPayload payload;
    uint16_t lowerStack;
};
static_assert(sizeof(NvtxRecord) == 72);

/// The number of the `StackRecord` that says where the program made the call; 0 without one. It
/// lies in two pieces, where the first logs have zeros.
inline uint32_t stackOf(const NvtxRecord& record) {
    return uint32_t{record.upperStack} << 16 | record.lowerStack;
}
inline void setStack(NvtxRecord& record, uint32_t stack) {
    record.upperStack = static_cast<uint16_t>(stack >> 16);
    record.lowerStack = static_cast<uint16_t>(stack);
}

struct NvtxDomainRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint32_t domain, name;
    uint32_t threadId, reserved;
};

struct NvtxCategoryRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint32_t domain, category, name, threadId;
};

/// A payload layout registered with the NVTX payload extension; its entries follow as records.
struct NvtxSchemaRecord {
    RecordHeader header;
    uint64_t schemaId;
    uint64_t flags, payloadBytes, alignTo;
    uint32_t domain, name, type, entryCount;
};

struct NvtxSchemaEntryRecord {
    RecordHeader header;
    uint64_t schemaId, flags, type, arrayOrUnionDetail, offset;
    uint32_t domain, index, name, description;
};

/// An enumeration registered with the NVTX payload extension, whose id can be the type of a
/// schema's entry; its values follow as records.
struct NvtxEnumRecord {
    RecordHeader header;
    uint64_t schemaId;
    uint64_t payloadBytes;  ///< Of a value; 0 if the program did not say.
    uint32_t domain, name, entryCount, reserved;
};

struct NvtxEnumEntryRecord {
    RecordHeader header;
    uint64_t schemaId, value;
    uint32_t domain, name;
    uint32_t isFlag;  ///< The value is a set of bits that may be combined with others.
    uint32_t reserved;
};

/// What NCCL's profiler interface says about a communicator of this process when it is made.
struct NcclCommunicatorRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t hash;  ///< The same in all processes that share the communicator.
    uint32_t name;  ///< As the program called it.
    int32_t rank, rankCount, nodeCount;
    uint32_t interfaceVersion;  ///< Of the profiler interface: 4 for `ncclProfiler_v4`.
    uint32_t reserved;
};

enum class NcclEvent : uint32_t {
    Call = 1,        ///< The program called a function such as ncclAllReduce.
    Task = 2,        ///< NCCL hands one operation over to the GPU; ends when that is done.
    Launch = 3,      ///< NCCL launches the kernel of the tasks that follow on this thread.
    CopyEngine = 4,  ///< As `Task`, for an operation that copy engines do without a kernel.
};

/// NCCL's profiler interface began an event. Fields that its kind does not have are 0, or -1 where
/// the comment says so.
struct NcclOperationRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t id;            ///< Of the event, unlike any other of the process; never 0.
    uint64_t parent;        ///< Task: id of the call it comes from, 0 if NCCL did not say.
    uint64_t communicator;  ///< Hash; 0 if unknown.
    uint64_t count;         ///< Elements of `datatype`.
    int64_t sequence;       ///< Task: how many of this function the communicator had before; or -1.
    uint32_t threadId;
    uint32_t function, datatype, algorithm, protocol;  ///< Strings.
    int32_t rank, root, peer;                          ///< -1: unknown, or does not apply.
    NcclEvent event;
    uint8_t channels, warps;
    uint8_t isCaptured;  ///< Call: made while a CUDA graph was captured.
    uint8_t reserved;
    uint32_t stack;  ///< Of a `StackRecord` of this log, where NCCL began it; 0 if there was none.
    uint8_t unused[4];
};
static_assert(sizeof(NcclOperationRecord) == 104);

/// An event that NCCL's profiler interface began has ended, perhaps on another thread.
struct NcclStopRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t id;
    uint32_t threadId, reserved;
};

struct ThreadNameRecord {
    RecordHeader header;
    uint32_t threadId, name;
};

/// The same moment on several clocks, for lining hosts and tools up, and to tell whether the clock
/// of the machine was set.
struct ClockRecord {
    RecordHeader header;
    int64_t realtimeNs;  ///< CLOCK_REALTIME; of a sampler the time of events, which that may leave.
    int64_t monotonicNs, cuptiNs;
};

/// `count` more events were lost since the last such record.
struct DroppedRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t count;
    Loss what;
    uint32_t reserved;
};

/// Something the user should know: no driver, a rival tool, an old CUPTI.
struct NoteRecord {
    RecordHeader header;
    int64_t timestampNs;
    Severity severity;
    uint32_t code;      ///< String, for programs: the identifier of a `HealthCode`.
    uint32_t sentence;  ///< String, for people.
    uint32_t count;     ///< How many; 0 if not countable. The greatest number stands for more.
};

/// A GPU that a sampler reads. Other records of the log name it by `gpu`.
struct SampledGpuRecord {
    RecordHeader header;
    uint32_t gpu;   ///< NVML's number, or CUDA's in the log of the sampler of GPU metrics.
    uint32_t uuid;  ///< "GPU-..."; 0 if the driver does not say.
    uint32_t name, reserved;
};

/// What a sample of a counter means; the numbers are those of `LANESCOPE_COUNTERS`.
enum class CounterMeaning : uint32_t { Gauge = 0, Cumulative = 1, Average = 2, Amount = 3 };

/// A counter that a sampler is going to read. Strings by id; -1 and 0 where it is not about one.
struct CounterRecord {
    RecordHeader header;
    uint32_t counter;  ///< Its number in this log.
    uint32_t source, name, title, unit, device, direction;
    CounterMeaning meaning;
    int32_t gpu, link, core;
    uint32_t processId;
    uint32_t wrapBits, reserved;
    double granularity;
};

enum class SampleType : uint32_t { Unknown = 0, Integer = 1, Real = 2 };

/// One value of a `SamplesRecord`.
struct SampleValue {
    uint32_t counter;
    SampleType type;
    uint64_t bits;  ///< An int64_t or a double, as `type` says.
};
static_assert(sizeof(SampleValue) == 16);

/// What several counters said at one moment. Followed by `count` values. A counter whose value is
/// as before may be left out.
struct SamplesRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint32_t count, reserved;
};

/// A process that uses a GPU. Those of one GPU at one moment come together; one that is left out
/// has left.
struct GpuProcessRecord {
    RecordHeader header;
    int64_t timestampNs;
    int64_t bytes;  ///< Of the GPU's memory; -1 if the driver does not say.
    uint32_t gpu, processId, name, reserved;
};

/// A range that was chosen with `record --sample-at` began or ended, and counters were read at
/// once. One reading may serve several.
struct SamplingMomentRecord {
    RecordHeader header;
    int64_t timestampNs;
    int64_t readBeginNs, readEndNs;  ///< Values of the moment lie within.
    uint32_t range, occurrence, processId, isEnd;
};

/// A metric of a GPU's hardware counters.
struct GpuMetricRecord {
    RecordHeader header;
    uint32_t gpu, metric;  ///< The metric's number, from 0 for each GPU.
    uint32_t name, reserved;
};

/// Values of all metrics of a GPU at `count` moments. Followed for each moment by an int64_t, the
/// end of the interval, and a double for each metric.
struct GpuMetricSamplesRecord {
    RecordHeader header;
    uint32_t gpu, metricCount, count, reserved;
};

enum class EndReason : uint32_t { Exit = 1, Signal = 2, LogFull = 3 };

/// Last record of a process that ended in good order. Without it the process was killed or crashed.
struct EndRecord {
    RecordHeader header;
    int64_t timestampNs;
    EndReason reason;
    uint32_t signal;  ///< For `EndReason::Signal`.
};

// Where the program was when it called. Strings are ids of `StringRecord`s.

/// A Python stack: its innermost frame, and the stack that is left without that. Stands before all
/// that names it.
struct StackRecord {
    RecordHeader header;
    uint32_t stack;   ///< Its number in this process, from 1.
    uint32_t parent;  ///< 0 if the frame is the only one.
    uint32_t function, file;
    uint32_t line;  ///< 0 if unknown.
    uint32_t reserved;
};

/// A node of a CUDA graph was made: captured, or copied of another.
struct GraphNodeRecord {
    RecordHeader header;
    int64_t timestampNs;
    uint64_t node;      ///< CUPTI's number, as `KernelRecord::graphNodeId`.
    uint64_t original;  ///< Of what it is a copy; 0 if it is none.
    uint32_t threadId;
    uint32_t stack;  ///< Of a `StackRecord` of this log; 0 if there was none, and of a copy.
};

// What `record` writes down of threads that it looks at from outside; as `Records.h` says.

/// A process whose threads are looked at from outside.
struct WatchedProcessRecord {
    RecordHeader header;
    uint32_t processId, parentId;
    uint32_t program, python;  ///< Strings; `python` 0: it runs none that can be read.
};

/// A thread of it, and what it is called; again when that changes.
struct WatchedThreadRecord {
    RecordHeader header;
    uint32_t processId, threadId;
    uint32_t name, reserved;
};

/// A thread was seen in one state, at one line, for a while.
struct ThreadRunRecord {
    RecordHeader header;
    int64_t startNs, endNs;
    int64_t cpuNs, delayNs;  ///< In which it had a core; in which it wanted one and had none.
    uint32_t processId, threadId;
    uint32_t stack;                      ///< Of a `StackRecord` of this log; 0 if none is known.
    uint32_t call;                       ///< String: the system call that it sleeps in.
    uint32_t holderThread, holderStack;  ///< Who has the GIL that it waits for; 0: unknown.
    uint32_t state;                      ///< As `ThreadState`.
    uint32_t looks;                      ///< How often it was looked at.
};

}  // namespace lanescope::log
