// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/format/threadStates.h"
#include "model/trace/Column.h"
#include "model/trace/StringTable.h"
#include "model/trace/fields.h"

namespace lanescope {

// Events of a trace: one struct of equally long columns per kind, each sorted by start. Times are nanoseconds from the
// start of the session. Events without a time ("not timed" by CUPTI) are omitted; `Trace::counts` counts them.
//
// The `forEachField` next to each table lists its columns, marks those that refer to rows of other tables, and defines
// the content of an index. Every change must raise `indexVersion`.

/// Returns an empty table whose columns grow in `memory`, which must outlive them.
template <class Table>
Table tableIn(LargeMemory* memory) {
    Table table;
    const auto place = [memory]<class Field>(Field& field) {
        // Members about the whole table are no columns.
        if constexpr (!std::is_arithmetic_v<Field>) field = Field(memory);
    };
    forEachField(table, place);
    return table;
}

/// Launch properties shared by many kernels, stored once. Sizes are in threads or blocks.
struct LaunchConfig {
    StringIndex demangledName = 0;
    StringIndex shortName = 0;
    StringIndex mangledName = 0;
    StringIndex collective = 0;  ///< Operation of a kernel that communicates between GPUs (`collectiveOperation`).
    std::array<uint32_t, 3> grid{};
    std::array<uint32_t, 3> block{};
    uint32_t registersPerThread = 0;
    uint32_t staticSharedBytes = 0;
    uint32_t dynamicSharedBytes = 0;
    bool isCollective() const { return collective != 0; }
    bool operator==(const LaunchConfig&) const = default;
};
void forEachField(Of<LaunchConfig> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Strings, s.demangledName), rowOf(RowsOf::Strings, s.shortName),
              rowOf(RowsOf::Strings, s.mangledName), rowOf(RowsOf::Strings, s.collective), number(s.grid[0]),
              number(s.grid[1]), number(s.grid[2]), number(s.block[0]), number(s.block[1]), number(s.block[2]),
              number(s.registersPerThread), number(s.staticSharedBytes), number(s.dynamicSharedBytes));
}

/// The launch configurations of a trace. Single fields are for loops over kernels: a whole record reads 13 columns.
class LaunchConfigColumn : public RecordColumn<LaunchConfig> {
  public:
    StringIndex demangledName(size_t index) const { return static_cast<StringIndex>(fields()[0][index]); }
    StringIndex shortName(size_t index) const { return static_cast<StringIndex>(fields()[1][index]); }
    StringIndex collective(size_t index) const { return static_cast<StringIndex>(fields()[3][index]); }
    bool isCollective(size_t index) const { return collective(index) != 0; }
};
template <Of<LaunchConfigColumn> S, class V>
void forEachField(S& s, V&& visit) {
    using Records = RecordColumn<LaunchConfig>;
    visit(static_cast<std::conditional_t<std::is_const_v<S>, const Records, Records>&>(s));
}

struct KernelTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> config;       ///< Index into `Trace::launchConfigs`.
    Column<uint32_t> stream;       ///< Index into `Trace::streams`.
    Column<uint32_t> correlation;  ///< Joins with `ApiTable` within one process; 0 = none.
    Column<uint64_t> graphNode;    ///< CUDA graph node id, 0 outside a graph.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<KernelTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::LaunchConfigs, s.config), rowOf(RowsOf::Streams, s.stream),
              number(s.correlation), s.graphNode);
}

struct MemcpyTable {
    Column<int64_t> startNs, endNs, bytes;
    Column<MemcpyKind> kind;
    Column<MemoryKind> sourceMemory, destinationMemory;
    Column<int16_t> sourceDevice, destinationDevice;  ///< Index into `Trace::gpus`, or -1.
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<MemcpyTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, s.kind, s.sourceMemory, s.destinationMemory,
              rowOrNone(RowsOf::Gpus, s.sourceDevice), rowOrNone(RowsOf::Gpus, s.destinationDevice),
              rowOf(RowsOf::Streams, s.stream), number(s.correlation));
}

/// Cause of a migration of managed memory. The numbers are the file's (`ENUM_CUDA_UNIF_MEM_MIGRATION`).
enum class MigrationCause : uint8_t {
    Unknown = 0,
    UserPrefetch = 1,
    Coherence = 2,  ///< It was accessed from elsewhere and moved there.
    SpeculativePrefetch = 3,
    Eviction = 4,
    AccessCounters = 5
};

/// Details of memcpys that are migrations of managed memory.
struct MigrationTable {
    Column<uint32_t> memcpy;  ///< Row of `MemcpyTable`, ascending.
    Column<uint64_t> address;
    Column<MigrationCause> cause;
    uint32_t size() const { return static_cast<uint32_t>(memcpy.size()); }
};
void forEachField(Of<MigrationTable> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Memcpys, s.memcpy), s.address, s.cause);
}

struct MemsetTable {
    Column<int64_t> startNs, endNs, bytes;
    Column<uint32_t> value;
    Column<MemoryKind> memory;
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<MemsetTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, number(s.value), s.memory, rowOf(RowsOf::Streams, s.stream),
              number(s.correlation));
}

/// Launches of CUDA graphs that were recorded as a whole, without their kernels.
struct GraphTable {
    Column<int64_t> startNs, endNs;
    Column<int64_t> graph;  ///< Number of the graph within its process.
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<GraphTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.graph, rowOf(RowsOf::Streams, s.stream), number(s.correlation));
}

/// Recorded allocations and frees of memory.
struct MemoryEventTable {
    Column<int64_t> timeNs, bytes;
    Column<uint64_t> address;
    Column<MemoryKind> kind;
    Column<uint8_t> isFree;    ///< 1: freed, 0: allocated.
    Column<uint8_t> isPooled;  ///< 1 if it comes from a memory pool.
    Column<uint32_t> process, gpu;
    Column<uint32_t> correlation;  ///< Correlation of the call; 0 = none.
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};
void forEachField(Of<MemoryEventTable> auto& s, auto&& visit) {
    visitEach(visit, s.timeNs, s.bytes, s.address, s.kind, s.isFree, s.isPooled, rowOf(RowsOf::Processes, s.process),
              rowOrNone(RowsOf::Gpus, s.gpu), number(s.correlation));
}

/// Size of a memory pool from a point in time on.
struct MemoryPoolTable {
    Column<int64_t> timeNs, bytes;
    Column<uint64_t> address;
    Column<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};
void forEachField(Of<MemoryPoolTable> auto& s, auto&& visit) {
    visitEach(visit, s.timeNs, s.bytes, s.address, rowOf(RowsOf::Processes, s.process), rowOrNone(RowsOf::Gpus, s.gpu));
}

/// Allocations with their frees, joined by process and address.
struct AllocationTable {
    Column<int64_t> startNs;
    Column<int64_t> endNs;  ///< Time of the free; the end of the process if there is none.
    Column<int64_t> bytes;
    Column<uint64_t> address;
    Column<MemoryKind> kind;
    Column<uint8_t> isLive;  ///< 1 if it was never freed.
    Column<uint8_t> isPooled;
    Column<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<AllocationTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, s.address, s.kind, s.isLive, s.isPooled,
              rowOf(RowsOf::Processes, s.process), rowOrNone(RowsOf::Gpus, s.gpu));
}

/// The numbers are the file's (`ENUM_CUDA_UNIF_MEM_ACCESS_TYPE`).
enum class FaultAccess : uint8_t { Unknown = 0, Read = 1, Write = 2, Atomic = 3, Prefetch = 4 };

struct PageFaultTable {
    Column<int64_t> startNs, endNs;
    Column<uint64_t> address;
    Column<int64_t> count;  ///< CPU faults are listed one by one.
    Column<FaultAccess> access;
    Column<uint32_t> process;
    Column<uint32_t> gpu;             ///< Faulting GPU; `noIndex` for the CPU.
    Column<StringIndex> instruction;  ///< Faulting instruction on the CPU; 0 if unknown.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<PageFaultTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.address, s.count, s.access, rowOf(RowsOf::Processes, s.process),
              rowOrNone(RowsOf::Gpus, s.gpu), rowOf(RowsOf::Strings, s.instruction));
}

struct ApiTable {
    Column<int64_t> startNs, endNs;
    Column<StringIndex> name;  ///< Without the `_v3020` suffix of the entry point.
    Column<uint32_t> thread;   ///< Index into `Trace::threads`.
    Column<uint32_t> correlation;
    Column<int32_t> returnValue;
    Column<uint8_t> isDriver;  ///< 1 for a driver call, 0 for a runtime call.
    /// Row of `StackTable`: the Python stack of the thread. For a thread without Python, the stack
    /// of the thread for which it works (`buildStacks`). `noIndex` if unknown.
    Column<uint32_t> stack;
    Column<uint8_t> isStackLent;  ///< 1 if the stack belongs to another thread.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<ApiTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Strings, s.name), rowOf(RowsOf::Threads, s.thread),
              number(s.correlation), s.returnValue, s.isDriver, rowOrNone(RowsOf::Stacks, s.stack), s.isStackLent);
}

/// Python stacks, each as its innermost frame and its parent stack. Stacks with the same outer frames share them.
struct StackTable {
    Column<uint32_t> parent;        ///< Stack without its innermost frame, or `noIndex`.
    Column<StringIndex> function;   ///< "GPT.forward".
    Column<StringIndex> file;       ///< With its folders; 0 if none.
    Column<uint32_t> line;          ///< 0 if unknown.
    Column<StringIndex> module;     ///< As `tables::Stacks::moduleId`; 0 for other frames.
    Column<StringIndex> operators;  ///< As `tables::Stacks::operatorsId`; 0 for other frames.
    Column<StringIndex> code;       ///< As `tables::Stacks::codeId`; 0 if unknown.
    uint32_t size() const { return static_cast<uint32_t>(parent.size()); }
};
void forEachField(Of<StackTable> auto& s, auto&& visit) {
    visitEach(visit, rowOrNone(RowsOf::Stacks, s.parent), rowOf(RowsOf::Strings, s.function),
              rowOf(RowsOf::Strings, s.file), number(s.line), rowOf(RowsOf::Strings, s.module),
              rowOf(RowsOf::Strings, s.operators), rowOf(RowsOf::Strings, s.code));
}

/// Nodes of CUDA graphs, with the stack of their capture. Sorted by the process of their thread, then by node.
struct GraphNodeTable {
    Column<int64_t> timeNs;   ///< Time of creation.
    Column<uint32_t> thread;  ///< Creating thread.
    Column<uint64_t> node;    ///< CUPTI's number in its process, as `KernelTable::graphNode`.
    /// Node of which this is a copy, as in an instantiated graph; 0: none.
    Column<uint64_t> original;
    Column<uint32_t> stack;       ///< Row of `StackTable`, or `noIndex`; for a copy that of its original.
    Column<uint8_t> isStackLent;  ///< As `ApiTable::isStackLent`.
    uint32_t size() const { return static_cast<uint32_t>(node.size()); }
};
void forEachField(Of<GraphNodeTable> auto& s, auto&& visit) {
    visitEach(visit, s.timeNs, rowOf(RowsOf::Threads, s.thread), s.node, s.original, rowOrNone(RowsOf::Stacks, s.stack),
              s.isStackLent);
}

enum class StateSource : uint8_t {
    StateSamples,  ///< Periodic samples, as from Lanescope's recorder.
    Scheduler,     ///< Context switches reported by the kernel.
    Calls,         ///< Call of an operating system library, which may contain others.
    Samples,       ///< Sample of a running thread, extended to the next one; only its stack matters.
};

/// States of CPU threads. States of one thread and one source overlap only for calls.
struct CpuStateTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> thread;
    Column<ThreadState> state;
    Column<StateSource> source;
    Column<int64_t> cpuNs, delayNs;  ///< Time on a core, and time runnable without a core.
    Column<StringIndex> call;        ///< Call in which it waits; 0 if unknown.
    Column<uint32_t> stack;          ///< Row of `StackTable`, or `noIndex`.
    Column<uint32_t> holder;         ///< Thread that holds the GIL it waits for, or `noIndex`.
    Column<uint32_t> holderStack;    ///< Row of `StackTable`, or `noIndex`.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<CpuStateTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Threads, s.thread), s.state, s.source, s.cpuNs, s.delayNs,
              rowOf(RowsOf::Strings, s.call), rowOrNone(RowsOf::Stacks, s.stack), rowOrNone(RowsOf::Threads, s.holder),
              rowOrNone(RowsOf::Stacks, s.holderStack));
}

/// The numbers are the file's (`ENUM_CUPTI_SYNC_TYPE`).
enum class SyncType : uint8_t { Unknown = 0, Event = 1, StreamWaitEvent = 2, Stream = 3, Context = 4 };

struct SyncTable {
    Column<int64_t> startNs, endNs;
    Column<SyncType> type;
    Column<uint32_t> stream;  ///< Index into `Trace::streams`, or `noIndex` for a whole context.
    Column<uint32_t> process;
    Column<uint32_t> correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<SyncTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.type, rowOrNone(RowsOf::Streams, s.stream),
              rowOf(RowsOf::Processes, s.process), number(s.correlation));
}

/// Calls about CUDA events: records of an event in a stream, or waits of a stream for an event.
/// They exist while a trace is loaded; `buildWaits` converts them to `StreamWaitTable`.
struct EventCallTable {
    Column<uint32_t> stream;     ///< Stream that records the event, or that waits.
    Column<uint32_t> event;      ///< Number of the event in its context or process.
    Column<uint32_t> eventSync;  ///< Joins a wait with its record; `noIndex` if unknown.
    Column<uint32_t> correlation;
    uint32_t size() const { return static_cast<uint32_t>(stream.size()); }
};
void forEachField(Of<EventCallTable> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Streams, s.stream), number(s.event), number(s.eventSync), number(s.correlation));
}

/// Waits of a stream for the work submitted to another stream so far, sorted by waiting stream and
/// the correlation of the wait call.
struct StreamWaitTable {
    Column<uint32_t> waitingStream, waitCorrelation;
    Column<uint32_t> recordedStream, recordCorrelation;  ///< Stream and call that record the event.
    Column<uint32_t> byRecord;                           ///< Rows sorted by recorded stream and its correlation.
    uint32_t size() const { return static_cast<uint32_t>(waitingStream.size()); }
};
void forEachField(Of<StreamWaitTable> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Streams, s.waitingStream), number(s.waitCorrelation),
              rowOf(RowsOf::Streams, s.recordedStream), number(s.recordCorrelation),
              rowOf(RowsOf::StreamWaits, s.byRecord));
}

enum class NvtxStyle : uint8_t { PushPop, StartEnd, Mark };

struct NvtxTable {
    /// Equal for a mark. A range that is never closed ends with the trace.
    Column<int64_t> startNs, endNs;
    Column<StringIndex> text;
    Column<StringIndex> domain;    ///< Name of the domain; 0 is the default domain.
    Column<StringIndex> category;  ///< Name, 0 if none.
    Column<uint32_t> colorArgb;    ///< 0 if the program set none.
    Column<uint32_t> thread;       ///< Thread of its start.
    Column<uint16_t> depth;        ///< Nesting within thread and domain, 0 outermost.
    Column<NvtxStyle> style;
    Column<uint8_t> isOpen;       ///< 1 if the range never ended.
    Column<StringIndex> payload;  ///< The payload as text, 0 if none.
    Column<uint32_t> stack;       ///< Python stack of its start, as `ApiTable::stack`.
    Column<uint8_t> isStackLent;  ///< 1 if the stack belongs to another thread.
    bool hasColors = false;       ///< True if the program set the colour of any range.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<NvtxTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Strings, s.text), rowOf(RowsOf::Strings, s.domain),
              rowOf(RowsOf::Strings, s.category), number(s.colorArgb), s.hasColors, rowOf(RowsOf::Threads, s.thread),
              s.depth, s.style, s.isOpen, rowOf(RowsOf::Strings, s.payload), rowOrNone(RowsOf::Stacks, s.stack),
              s.isStackLent);
}

/// Pairs of forward and backward operators: the backward computed the gradients of the forward's results. Sorted by
/// forward, then by backward, each pair once. An operator may have several, for example if a backward ran twice.
struct BackwardTable {
    Column<uint32_t> forward, backward;  ///< Rows of `NvtxTable`.
    Column<uint32_t> byBackward;         ///< Rows sorted by `backward`.
    uint32_t size() const { return static_cast<uint32_t>(forward.size()); }
};
void forEachField(Of<BackwardTable> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Nvtx, s.forward), rowOf(RowsOf::Nvtx, s.backward),
              rowOf(RowsOf::Backwards, s.byBackward));
}

/// Interval from the first start to the last end of the GPU work launched within an NVTX range.
struct ProjectionTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> nvtx;  ///< Row of `NvtxTable`.
    Column<uint32_t> stream;
    Column<uint32_t> operationCount;
    Column<uint16_t> depth;  ///< Lane within the stream's projection track.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
void forEachField(Of<ProjectionTable> auto& s, auto&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Nvtx, s.nvtx), rowOf(RowsOf::Streams, s.stream),
              number(s.operationCount), s.depth);
}

/// Facts of an NCCL call other than its name and size. Most come from NCCL's profiler plugin; negative
/// numbers and text 0 mean unknown.
struct NcclFacts {
    StringIndex datatype = 0;   ///< "bfloat16".
    StringIndex algorithm = 0;  ///< "RING", "TREE", "NVLS", ...
    StringIndex protocol = 0;   ///< "LL", "LL128", "SIMPLE".
    StringIndex communicatorName = 0;
    int64_t count = -1;     ///< Elements of the datatype.
    int64_t sequence = -1;  ///< Number of earlier operations of this kind in the communicator.
    int32_t rank = -1,
            rankCount = -1;  ///< Rank of this process in the communicator, and number of ranks.
    int32_t root = -1, peer = -1;
    int16_t channels = -1, warps = -1;
    bool isCaptured = false;             ///< Called during the capture of a CUDA graph.
    uint32_t launchThread = 0xffffffff;  ///< Thread on which NCCL launched its kernel; `noIndex` if unknown.
    TimeRange launch;                    ///< On the CPU.
    TimeRange gpu;                       ///< Work on the GPU, if `operationCount` is not 0.
    uint32_t operationCount = 0;         ///< Kernels and copies on the GPU.
    uint32_t sharedBy = 1;               ///< Number of calls that share this work.
    /// Part of `gpu` before the work of the last rank, or of a sending root, began; -1 if unknown (`buildNcclWaits`).
    int64_t waitedNs = -1;

    /// Returns the part of `gpu` after the wait, when data moves; all of it if the wait is unknown.
    TimeRange moving() const { return {std::min(gpu.startNs + std::max<int64_t>(waitedNs, 0), gpu.endNs), gpu.endNs}; }
};

void forEachField(Of<NcclFacts> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Strings, s.datatype), rowOf(RowsOf::Strings, s.algorithm),
              rowOf(RowsOf::Strings, s.protocol), rowOf(RowsOf::Strings, s.communicatorName), s.count, s.sequence,
              s.rank, s.rankCount, s.root, s.peer, s.channels, s.warps, s.isCaptured,
              rowOrNone(RowsOf::Threads, s.launchThread), s.launch.startNs, s.launch.endNs, s.gpu.startNs, s.gpu.endNs,
              number(s.operationCount), number(s.sharedBy), s.waitedNs);
}

/// NCCL calls: rows of `NvtxTable` that NCCL announced, with their facts.
struct NcclTable {
    /// Returns the call of this row of `NvtxTable`; `noIndex` if none. O(log n).
    uint32_t rowOf(uint32_t nvtxRow) const {
        const auto found = std::lower_bound(nvtx.begin(), nvtx.end(), nvtxRow);
        return found != nvtx.end() && *found == nvtxRow ? static_cast<uint32_t>(found - nvtx.begin()) : noIndex;
    }

    Column<uint32_t> nvtx;          ///< Row of `NvtxTable`, ascending.
    Column<StringIndex> operation;  ///< "AllReduce", "Send", ...
    Column<int64_t> bytes;          ///< Message size passed by this rank; -1 if unknown.
    Column<uint64_t> communicator;  ///< NCCL's hash of the communicator; 0 if unknown.
    RecordColumn<NcclFacts> facts;
    uint32_t size() const { return static_cast<uint32_t>(nvtx.size()); }
};
void forEachField(Of<NcclTable> auto& s, auto&& visit) {
    visitEach(visit, rowOf(RowsOf::Nvtx, s.nvtx), rowOf(RowsOf::Strings, s.operation), s.bytes, s.communicator,
              s.facts);
}

}  // namespace lanescope
