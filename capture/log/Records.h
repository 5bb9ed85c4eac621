// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/log/LogFormat.h"
#include "capture/log/RecordingLevel.h"
#include "model/format/health.h"

namespace lanescope::log {

// Records that the agent writes. Times are nanoseconds in the time of events (`clocks.h`), which
// CUPTI and the agent read; a GPU time of 0 to 0 means "not timed". Strings are ids of earlier
// `StringRecord`s of the same log; 0 is "none". Kinds and memory kinds keep CUPTI's numbers; the
// collector translates them. Each struct derives from `RecordOf` its kind, and `AllRecords` lists it.

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
    Level = 36,
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

/// Begin of every record.
template <RecordKind recordKind>
struct RecordOf {
    static constexpr RecordKind kind = recordKind;
    RecordHeader header;
};

/// Followed by `length` bytes of text, padded with zeros.
struct StringRecord : RecordOf<RecordKind::String> {
    uint32_t id;
    uint32_t length;
};

/// A fact about the process or its machine, for example "program", "rank", "cuptiVersion". Strings by id.
struct PropertyRecord : RecordOf<RecordKind::Property> {
    uint32_t name;
    uint32_t value;
};

struct KernelRecord : RecordOf<RecordKind::Kernel> {
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

struct MemcpyRecord : RecordOf<RecordKind::Memcpy> {
    int64_t startNs, endNs;
    uint64_t bytes, graphNodeId;
    uint32_t deviceId, contextId, streamId, correlationId, graphId;
    uint32_t sourceDeviceId, sourceContextId, destinationDeviceId,
        destinationContextId;                       ///< PtoP only.
    uint8_t copyKind, sourceKind, destinationKind;  ///< CUPTI's numbers.
    uint8_t isAsync;
    uint8_t isPeer;  ///< The four peer fields are set.
    uint8_t reserved[3];
};

struct MemsetRecord : RecordOf<RecordKind::Memset> {
    int64_t startNs, endNs;
    uint64_t bytes, graphNodeId;
    uint32_t deviceId, contextId, streamId, correlationId, graphId, value;
    uint8_t memoryKind, isAsync;
    uint8_t reserved[6];
};

struct ApiRecord : RecordOf<RecordKind::Api> {
    int64_t startNs, endNs;
    uint32_t name;
    uint32_t threadId;  ///< Kernel thread id (gettid).
    uint32_t correlationId;
    int32_t returnValue;
    uint32_t isDriver;
    uint32_t stack;  ///< Number of a `StackRecord` of this log; 0 without one.
};

struct SyncRecord : RecordOf<RecordKind::Sync> {
    int64_t startNs, endNs;
    uint32_t type;  ///< CUPTI's numbers, which the trace keeps.
    uint32_t contextId, streamId, correlationId, eventId,
        eventSyncId;  ///< 0xffffffff: does not apply.
};

struct CudaEventRecord : RecordOf<RecordKind::CudaEvent> {
    int64_t timestampNs;  ///< 0: CUPTI reported none.
    uint32_t deviceId, contextId, streamId, correlationId, eventId, eventSyncId;
};

struct OverheadRecord : RecordOf<RecordKind::Overhead> {
    int64_t startNs, endNs;
    uint32_t overheadKind;  ///< CUPTI's number.
    uint32_t threadId;      ///< 0 if the overhead belongs to no thread.
    uint32_t correlationId;
    uint32_t reserved;
};

/// A CUDA device, by this process's numbering.
struct DeviceRecord : RecordOf<RecordKind::Device> {
    uint8_t uuid[16];
    uint64_t memoryBytes, memoryBandwidthKBps;
    uint32_t deviceId, name;
    uint32_t computeMajor, computeMinor, smCount, coreClockKHz, l2Bytes, constantBytes;
    uint32_t maxThreadsPerBlock, maxRegistersPerBlock, maxSharedBytesPerBlock, maxWarpsPerSm;
    uint32_t maxBlocksPerSm, threadsPerWarp, copyEngines, maxRegistersPerSm, maxSharedBytesPerSm;
    uint32_t maxBlockDim[3], maxGridDim[3];
    uint32_t reserved;
};

struct ContextRecord : RecordOf<RecordKind::Context> {
    uint32_t contextId, deviceId, nullStreamId, reserved;
};

struct StreamRecord : RecordOf<RecordKind::Stream> {
    uint32_t contextId, streamId, priority, flag;
};

struct GraphRecord : RecordOf<RecordKind::Graph> {
    int64_t startNs, endNs;
    uint32_t graphId, deviceId, contextId, streamId, correlationId, reserved;
};

/// An allocation or a free of device, pinned, managed or pool memory.
struct DeviceMemoryRecord : RecordOf<RecordKind::DeviceMemory> {
    int64_t timestampNs;
    uint64_t address, bytes;
    uint64_t programCounter;
    uint64_t poolAddress;  ///< 0 outside a pool, like the next three fields.
    uint64_t poolReleaseThreshold, poolBytes, poolUsedBytes;
    uint32_t poolProcessId;  ///< Process that owns the pool, if it was imported.
    uint32_t deviceId, contextId, streamId, correlationId;
    uint32_t name;       ///< Name of the variable, for a module's own memory.
    uint8_t operation;   ///< CUPTI's number: 1 allocated, 2 freed.
    uint8_t memoryKind;  ///< CUPTI's number.
    uint8_t isAsync;
    uint8_t poolType;  ///< CUPTI's number: 1 of this process, 2 imported.
    uint32_t reserved;
};

struct MemoryPoolRecord : RecordOf<RecordKind::MemoryPool> {
    int64_t timestampNs;
    uint64_t address, bytes, releaseThreshold, usedBytes, minimumBytesToKeep;
    uint32_t deviceId, correlationId, processId;
    uint8_t operation;  ///< CUPTI's number: 1 created, 2 destroyed, 3 trimmed.
    uint8_t poolType;
    uint8_t reserved[2];
};

/// An event of managed memory: a migration, faults, thrashing or throttling.
struct UnifiedMemoryRecord : RecordOf<RecordKind::UnifiedMemory> {
    int64_t startNs, endNs;  ///< `endNs` 0: an instant.
    uint64_t value;          ///< Moved bytes or number of faults, by `counterKind`.
    uint64_t address;
    uint32_t counterKind;              ///< CUPTI's number.
    uint32_t sourceId, destinationId;  ///< Devices; 0xffffffff is the CPU.
    uint32_t flags;                    ///< CUPTI's flags: reason of the migration, kind of access.
    uint32_t streamId, processId;
};

/// The process began or ended a recording window; see `record --steps` and similar options. A
/// process without such records keeps everything from its start.
struct WindowRecord : RecordOf<RecordKind::Window> {
    int64_t timestampNs;
    uint32_t index;    ///< Number of the window in the process, from 0.
    uint32_t isBegin;  ///< 1: begin, 0: end.
};

enum class NvtxEvent : uint8_t { Push = 1, Pop = 2, Start = 3, End = 4, Mark = 5 };
/// Member of the NVTX payload union that is set; `None` if the program passed none.
enum class NvtxPayload : uint8_t { None = 0, UInt64 = 1, Int64 = 2, Double = 3, UInt32 = 4, Int32 = 5, Float = 6 };

/// One NVTX call. Followed by `extendedBytes` bytes of payload in the layout of schema `schemaId`
/// of the domain, padded with zeros. `RecordHeader::flags` 1: the payload was truncated.
struct NvtxRecord : RecordOf<RecordKind::Nvtx> {
    int64_t timestampNs;
    uint64_t rangeId;      ///< Id of the range for Start and End; 0 for Push and Pop.
    uint64_t payloadBits;  ///< Value by `payload`; a 4-byte payload is in the low half.
    uint64_t schemaId;     ///< 0 without extended payload.
    uint32_t threadId;
    uint32_t domain;  ///< 0 is the default domain.
    uint32_t text;
    uint32_t category;
    uint32_t colorArgb;  ///< 0 if none was given.
    int32_t level;       ///< Number of open ranges of the thread and domain: before a Push, after a Pop.
    uint16_t extendedBytes;
    uint16_t upperStack;  ///< See `stackOf`, which also uses the last field.
    NvtxEvent event;
    NvtxPayload payload;
    uint16_t lowerStack;
};
static_assert(sizeof(NvtxRecord) == 72);

/// Returns the number of the `StackRecord` of the call's place, or 0 without one. It is stored in
/// two pieces, which are zero in the first logs.
inline uint32_t stackOf(const NvtxRecord& record) { return uint32_t{record.upperStack} << 16 | record.lowerStack; }
inline void setStack(NvtxRecord& record, uint32_t stack) {
    record.upperStack = static_cast<uint16_t>(stack >> 16);
    record.lowerStack = static_cast<uint16_t>(stack);
}

struct NvtxDomainRecord : RecordOf<RecordKind::NvtxDomain> {
    int64_t timestampNs;
    uint32_t domain, name;
    uint32_t threadId, reserved;
};

struct NvtxCategoryRecord : RecordOf<RecordKind::NvtxCategory> {
    int64_t timestampNs;
    uint32_t domain, category, name, threadId;
};

/// A payload layout registered with the NVTX payload extension. Its entries follow as records.
struct NvtxSchemaRecord : RecordOf<RecordKind::NvtxSchema> {
    uint64_t schemaId;
    uint64_t flags, payloadBytes, alignTo;
    uint32_t domain, name, type, entryCount;
};

struct NvtxSchemaEntryRecord : RecordOf<RecordKind::NvtxSchemaEntry> {
    uint64_t schemaId, flags, type, arrayOrUnionDetail, offset;
    uint32_t domain, index, name, description;
};

/// An enumeration registered with the NVTX payload extension, whose id can be the type of a
/// schema's entry. Its values follow as records.
struct NvtxEnumRecord : RecordOf<RecordKind::NvtxEnum> {
    uint64_t schemaId;
    uint64_t payloadBytes;  ///< Size of a value; 0 if the program did not specify it.
    uint32_t domain, name, entryCount, reserved;
};

struct NvtxEnumEntryRecord : RecordOf<RecordKind::NvtxEnumEntry> {
    uint64_t schemaId, value;
    uint32_t domain, name;
    uint32_t isFlag;  ///< The value is a bit mask that may be combined with others.
    uint32_t reserved;
};

/// A communicator of this process, as NCCL's profiler interface describes it at its creation.
struct NcclCommunicatorRecord : RecordOf<RecordKind::NcclCommunicator> {
    int64_t timestampNs;
    uint64_t hash;  ///< Equal in all processes that share the communicator.
    uint32_t name;  ///< Name that the program gave it.
    int32_t rank, rankCount, nodeCount;
    uint32_t interfaceVersion;  ///< Version of the profiler interface: 4 for `ncclProfiler_v4`.
    uint32_t reserved;
};

enum class NcclEvent : uint32_t {
    Call = 1,        ///< The program called a function such as ncclAllReduce.
    Task = 2,        ///< NCCL passes one operation to the GPU; ends when that is done.
    Launch = 3,      ///< NCCL launches the kernel of the following tasks of this thread.
    CopyEngine = 4,  ///< Like `Task`, for an operation that copy engines do without a kernel.
};

/// NCCL's profiler interface began an event. Fields that its kind does not have are 0, or -1 where
/// the comment states so.
struct NcclOperationRecord : RecordOf<RecordKind::NcclOperation> {
    int64_t timestampNs;
    uint64_t id;            ///< Id of the event, unique in the process; never 0.
    uint64_t parent;        ///< Task: id of its call, 0 if NCCL did not report it.
    uint64_t communicator;  ///< Hash; 0 if unknown.
    uint64_t count;         ///< Elements of `datatype`.
    int64_t sequence;       ///< Task: earlier tasks of this function in the communicator, or -1.
    uint32_t threadId;
    uint32_t function, datatype, algorithm, protocol;  ///< Strings.
    int32_t rank, root, peer;                          ///< -1: unknown, or does not apply.
    NcclEvent event;
    uint8_t channels, warps;
    uint8_t isCaptured;  ///< Call: made during the capture of a CUDA graph.
    uint8_t reserved;
    uint32_t stack;  ///< Number of a `StackRecord` of this log, where NCCL began it; 0 without one.
    uint8_t unused[4];
};
static_assert(sizeof(NcclOperationRecord) == 104);

/// An event of NCCL's profiler interface ended, perhaps on another thread.
struct NcclStopRecord : RecordOf<RecordKind::NcclStop> {
    int64_t timestampNs;
    uint64_t id;
    uint32_t threadId, reserved;
};

struct ThreadNameRecord : RecordOf<RecordKind::ThreadName> {
    uint32_t threadId, name;
};

/// The same instant on several clocks, to synchronize hosts and tools and to detect changes of the system time.
struct ClockRecord : RecordOf<RecordKind::Clock> {
    int64_t realtimeNs;  ///< CLOCK_REALTIME; from a sampler the time of events.
    int64_t monotonicNs, cuptiNs;
};

/// `count` more events were lost since the last such record.
struct DroppedRecord : RecordOf<RecordKind::Dropped> {
    int64_t timestampNs;
    uint64_t count;
    Loss what;
    uint32_t reserved;
};

/// A message for the user, such as a missing driver, another profiler or an old CUPTI.
struct NoteRecord : RecordOf<RecordKind::Note> {
    int64_t timestampNs;
    Severity severity;
    uint32_t code;      ///< String id of the `HealthCode` identifier, for programs.
    uint32_t sentence;  ///< String id of the text for people.
    uint32_t count;     ///< Occurrences; 0 if not countable. The maximum means "or more".
};

/// The process records at another level from then on. Each file of a log repeats the latest one.
struct LevelRecord : RecordOf<RecordKind::Level> {
    int64_t timestampNs;
    RecordingLevel level;
    uint32_t reserved;
};

/// A GPU that a sampler reads. Other records of the log refer to it by `gpu`.
struct SampledGpuRecord : RecordOf<RecordKind::SampledGpu> {
    uint32_t gpu;   ///< NVML's number, or CUDA's in the log of the sampler of GPU metrics.
    uint32_t uuid;  ///< "GPU-..."; 0 if the driver does not report it.
    uint32_t name, reserved;
};

/// Meaning of a counter's samples; the numbers are those of `LANESCOPE_COUNTERS`.
enum class CounterMeaning : uint32_t { Gauge = 0, Cumulative = 1, Average = 2, Amount = 3 };

/// A counter that a sampler will read. Strings by id; fields that do not apply are -1 or 0.
struct CounterRecord : RecordOf<RecordKind::Counter> {
    uint32_t counter;  ///< Number of the counter in this log.
    uint32_t source, name, title, unit, device, direction;
    CounterMeaning meaning;
    int32_t gpu, link, core;
    uint32_t processId;
    uint32_t wrapBits, reserved;
    double granularity;
};

enum class SampleType : uint32_t { Unknown = 0, Integer = 1, Real = 2 };

struct SampleValue {
    uint32_t counter;
    SampleType type;
    uint64_t bits;  ///< An int64_t or a double, by `type`.
};
static_assert(sizeof(SampleValue) == 16);

/// Values of several counters at one time. Followed by `count` values. Unchanged values may be omitted.
struct SamplesRecord : RecordOf<RecordKind::Samples> {
    int64_t timestampNs;
    uint32_t count, reserved;
};

/// A process that uses a GPU. All processes of a GPU at one time are consecutive; an omitted one has left.
struct GpuProcessRecord : RecordOf<RecordKind::GpuProcess> {
    int64_t timestampNs;
    int64_t bytes;  ///< Bytes of the GPU's memory; -1 if the driver does not report it.
    uint32_t gpu, processId, name, reserved;
};

/// A range chosen with `record --sample-at` began or ended, and counters were read at once. One
/// reading may serve several.
struct SamplingMomentRecord : RecordOf<RecordKind::SamplingMoment> {
    int64_t timestampNs;
    int64_t readBeginNs, readEndNs;  ///< Time interval that contains the values.
    uint32_t range, occurrence, processId, isEnd;
};

struct GpuMetricRecord : RecordOf<RecordKind::GpuMetric> {
    uint32_t gpu, metric;  ///< Number of the metric, from 0 for each GPU.
    uint32_t name, reserved;
};

/// Values of all metrics of a GPU at `count` times. Followed, for each time, by an int64_t, the end
/// of the interval, and a double per metric.
struct GpuMetricSamplesRecord : RecordOf<RecordKind::GpuMetricSamples> {
    uint32_t gpu, metricCount, count, reserved;
};

enum class EndReason : uint32_t { Exit = 1, Signal = 2, LogFull = 3 };

/// Last record of a process that ended normally. Without it the process was killed or crashed.
struct EndRecord : RecordOf<RecordKind::End> {
    int64_t timestampNs;
    EndReason reason;
    uint32_t signal;  ///< For `EndReason::Signal`.
};

// Places in the program at which calls were made. Strings are ids of `StringRecord`s.

/// A Python stack: its innermost frame, and the stack without that frame. Precedes all records that refer to it.
struct StackRecord : RecordOf<RecordKind::Stack> {
    uint32_t stack;   ///< Number of the stack in this process, from 1.
    uint32_t parent;  ///< 0 if the frame is the only one.
    uint32_t function, file;
    uint32_t line;    ///< 0 if unknown.
    uint32_t module;  ///< Of a frame that calls a module of a model, as `tables::Stacks::moduleId`; 0 for others.
};

/// A node of a CUDA graph was created: captured, or copied from another.
struct GraphNodeRecord : RecordOf<RecordKind::GraphNode> {
    int64_t timestampNs;
    uint64_t node;      ///< CUPTI's number, as `KernelRecord::graphNodeId`.
    uint64_t original;  ///< Node that it is a copy of; 0 if it is none.
    uint32_t threadId;
    uint32_t stack;  ///< Number of a `StackRecord` of this log; 0 without one, and for a copy.
};

// Records of threads that `record` samples from outside; conventions as in `Records.h`.

struct WatchedProcessRecord : RecordOf<RecordKind::WatchedProcess> {
    uint32_t processId, parentId;
    uint32_t program, python;  ///< Strings; `python` 0: no readable interpreter.
};

/// A thread of the process and its name; written again when that changes.
struct WatchedThreadRecord : RecordOf<RecordKind::WatchedThread> {
    uint32_t processId, threadId;
    uint32_t name, reserved;
};

/// A period in which samples found a thread in one state, at one line.
struct ThreadRunRecord : RecordOf<RecordKind::ThreadRun> {
    int64_t startNs, endNs;
    int64_t cpuNs, delayNs;  ///< Time on a core, and time runnable without a core.
    uint32_t processId, threadId;
    uint32_t stack;                      ///< Number of a `StackRecord` of this log; 0 if unknown.
    uint32_t call;                       ///< String: the system call in which it sleeps.
    uint32_t holderThread, holderStack;  ///< Holder of the GIL for which it waits; 0: unknown.
    uint32_t state;                      ///< As `ThreadState`.
    uint32_t samples;                    ///< Number of samples.
};

/// All records: readers find the struct of a kind here.
template <class... Records>
struct RecordList {};
using AllRecords =
    RecordList<StringRecord, PropertyRecord, KernelRecord, MemcpyRecord, MemsetRecord, ApiRecord, SyncRecord,
               CudaEventRecord, OverheadRecord, DeviceRecord, ContextRecord, StreamRecord, GraphRecord,
               DeviceMemoryRecord, MemoryPoolRecord, UnifiedMemoryRecord, StackRecord, GraphNodeRecord, NvtxRecord,
               NvtxDomainRecord, NvtxCategoryRecord, NvtxSchemaRecord, NvtxSchemaEntryRecord, NvtxEnumRecord,
               NvtxEnumEntryRecord, ThreadNameRecord, ClockRecord, DroppedRecord, NoteRecord, EndRecord, WindowRecord,
               LevelRecord, NcclCommunicatorRecord, NcclOperationRecord, NcclStopRecord, CounterRecord, SamplesRecord,
               SampledGpuRecord, GpuProcessRecord, SamplingMomentRecord, GpuMetricRecord, GpuMetricSamplesRecord,
               WatchedProcessRecord, WatchedThreadRecord, ThreadRunRecord>;

}  // namespace lanescope::log
