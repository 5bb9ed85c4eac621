// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/format/threadStates.h"
#include "model/trace/Column.h"
#include "model/trace/StringTable.h"
#include "model/trace/fields.h"

namespace lanescope {

// The events of a trace, one struct of equally long columns per kind, each sorted by start. Times
// are nanoseconds from the start of the session. Events without a time ("not timed" by CUPTI) are
// not here; `Trace::counts` says how many there were.
//
// The list beside each names its columns, says which of them hold rows of something else, and is
// what an index stores: whoever changes one raises `indexVersion`.

/// An empty table whose columns grow in `memory`, which must outlive them.
template <class Table>
Table tableIn(LargeMemory* memory) {
    Table table;
    const auto place = [memory]<class Field>(Field& field) {
        // What is said of the whole table is no column.
        if constexpr (!std::is_arithmetic_v<Field>) field = Field(memory);
    };
    forEachField(table, place);
    return table;
}

/// What kernels launched alike share; kept once. Bytes are bytes, sizes are threads or blocks.
struct LaunchConfig {
    StringIndex demangledName = 0;
    StringIndex shortName = 0;
    StringIndex mangledName = 0;
    std::array<uint32_t, 3> grid{};
    std::array<uint32_t, 3> block{};
    uint32_t registersPerThread = 0;
    uint32_t staticSharedBytes = 0;
    uint32_t dynamicSharedBytes = 0;
    bool operator==(const LaunchConfig&) const = default;
};

struct KernelTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> config;       ///< Index into `Trace::launchConfigs`.
    Column<uint32_t> stream;       ///< Index into `Trace::streams`.
    Column<uint32_t> correlation;  ///< Joins with `ApiTable` within one process; 0 = none.
    Column<uint64_t> graphNode;    ///< CUDA graph node id, 0 outside a graph.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<KernelTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::LaunchConfigs, s.config),
              rowOf(RowsOf::Streams, s.stream), number(s.correlation), s.graphNode);
}

struct MemcpyTable {
    Column<int64_t> startNs, endNs, bytes;
    Column<MemcpyKind> kind;
    Column<MemoryKind> sourceMemory, destinationMemory;
    Column<int16_t> sourceDevice, destinationDevice;  ///< Index into `Trace::gpus`, or -1.
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<MemcpyTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, s.kind, s.sourceMemory, s.destinationMemory,
              rowOrNone(RowsOf::Gpus, s.sourceDevice), rowOrNone(RowsOf::Gpus, s.destinationDevice),
              rowOf(RowsOf::Streams, s.stream), number(s.correlation));
}

/// What made managed memory move. The numbers are the file's (`ENUM_CUDA_UNIF_MEM_MIGRATION`).
enum class MigrationCause : uint8_t {
    Unknown = 0,
    UserPrefetch = 1,
    Coherence = 2,  ///< It was touched where it was not, and moved there.
    SpeculativePrefetch = 3,
    Eviction = 4,
    AccessCounters = 5
};

/// More about those memcpys that are migrations of managed memory.
struct MigrationTable {
    Column<uint32_t> memcpy;  ///< Row of `MemcpyTable`, ascending.
    Column<uint64_t> address;
    Column<MigrationCause> cause;
    uint32_t size() const { return static_cast<uint32_t>(memcpy.size()); }
};
template <Of<MigrationTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Memcpys, s.memcpy), s.address, s.cause);
}

struct MemsetTable {
    Column<int64_t> startNs, endNs, bytes;
    Column<uint32_t> value;
    Column<MemoryKind> memory;
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<MemsetTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, number(s.value), s.memory,
              rowOf(RowsOf::Streams, s.stream), number(s.correlation));
}

/// Launches of CUDA graphs that were recorded as a whole, without the kernels in them.
struct GraphTable {
    Column<int64_t> startNs, endNs;
    Column<int64_t> graph;  ///< Number of the graph within its process.
    Column<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<GraphTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.graph, rowOf(RowsOf::Streams, s.stream),
              number(s.correlation));
}

/// Memory that was allocated or freed, as recorded.
struct MemoryEventTable {
    Column<int64_t> timeNs, bytes;
    Column<uint64_t> address;
    Column<MemoryKind> kind;
    Column<uint8_t> isFree;    ///< 1: freed, 0: allocated.
    Column<uint8_t> isPooled;  ///< 1 if it comes from a memory pool.
    Column<uint32_t> process, gpu;
    Column<uint32_t> correlation;  ///< Of the call that did it; 0 = none.
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};
template <Of<MemoryEventTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timeNs, s.bytes, s.address, s.kind, s.isFree, s.isPooled,
              rowOf(RowsOf::Processes, s.process), rowOrNone(RowsOf::Gpus, s.gpu),
              number(s.correlation));
}

/// How large a memory pool was from some moment on.
struct MemoryPoolTable {
    Column<int64_t> timeNs, bytes;
    Column<uint64_t> address;
    Column<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};
template <Of<MemoryPoolTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timeNs, s.bytes, s.address, rowOf(RowsOf::Processes, s.process),
              rowOrNone(RowsOf::Gpus, s.gpu));
}

/// Allocations and the frees that ended them, joined by process and address.
struct AllocationTable {
    Column<int64_t> startNs;
    Column<int64_t> endNs;  ///< When it was freed; the end of the process if it never was.
    Column<int64_t> bytes;
    Column<uint64_t> address;
    Column<MemoryKind> kind;
    Column<uint8_t> isLive;  ///< 1 if it was never freed.
    Column<uint8_t> isPooled;
    Column<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<AllocationTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.bytes, s.address, s.kind, s.isLive, s.isPooled,
              rowOf(RowsOf::Processes, s.process), rowOrNone(RowsOf::Gpus, s.gpu));
}

/// The numbers are the file's (`ENUM_CUDA_UNIF_MEM_ACCESS_TYPE`).
enum class FaultAccess : uint8_t { Unknown = 0, Read = 1, Write = 2, Atomic = 3, Prefetch = 4 };

struct PageFaultTable {
    Column<int64_t> startNs, endNs;
    Column<uint64_t> address;
    Column<int64_t> count;  ///< Faults of the CPU are listed one by one.
    Column<FaultAccess> access;
    Column<uint32_t> process;
    Column<uint32_t> gpu;             ///< That faulted; `noIndex` for the CPU.
    Column<StringIndex> instruction;  ///< That faulted, on the CPU; 0 if unknown.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<PageFaultTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.address, s.count, s.access,
              rowOf(RowsOf::Processes, s.process), rowOrNone(RowsOf::Gpus, s.gpu),
              rowOf(RowsOf::Strings, s.instruction));
}

struct ApiTable {
    Column<int64_t> startNs, endNs;
    Column<StringIndex> name;  ///< Without the `_v3020` suffix of the entry point.
    Column<uint32_t> thread;   ///< Index into `Trace::threads`.
    Column<uint32_t> correlation;
    Column<int32_t> returnValue;
    Column<uint8_t> isDriver;  ///< 1 for a driver call, 0 for a runtime call.
    /// Row of `StackTable`: the Python stack of the thread, or where that runs no Python the one
    /// for which it works (`buildStacks`); `noIndex` if neither is known.
    Column<uint32_t> stack;
    Column<uint8_t> isStackLent;  ///< 1 if the stack is another thread's.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<ApiTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Strings, s.name),
              rowOf(RowsOf::Threads, s.thread), number(s.correlation), s.returnValue, s.isDriver,
              rowOrNone(RowsOf::Stacks, s.stack), s.isStackLent);
}

/// Python stacks, each by its innermost frame and what is left without that. Those that begin alike
/// share their beginning.
struct StackTable {
    Column<uint32_t> parent;       ///< The stack without its innermost frame, or `noIndex`.
    Column<StringIndex> function;  ///< "GPT.forward".
    Column<StringIndex> file;      ///< With its folders; 0 if it has none.
    Column<uint32_t> line;         ///< 0 if unknown.
    uint32_t size() const { return static_cast<uint32_t>(parent.size()); }
};
template <Of<StackTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOrNone(RowsOf::Stacks, s.parent), rowOf(RowsOf::Strings, s.function),
              rowOf(RowsOf::Strings, s.file), number(s.line));
}

/// Nodes of CUDA graphs, and where the program was when it captured them. Sorted by the process of
/// their thread and their number.
struct GraphNodeTable {
    Column<int64_t> timeNs;   ///< When it was made.
    Column<uint32_t> thread;  ///< That made it.
    Column<uint64_t> node;    ///< CUPTI's number in its process, as `KernelTable::graphNode`.
    /// The node of which it is a copy, as those of a graph that was made ready to run; 0: none.
    Column<uint64_t> original;
    Column<uint32_t> stack;  ///< Row of `StackTable`, or `noIndex`; of a copy that of its original.
    Column<uint8_t> isStackLent;  ///< As `ApiTable::isStackLent`.
    uint32_t size() const { return static_cast<uint32_t>(node.size()); }
};
template <Of<GraphNodeTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.timeNs, rowOf(RowsOf::Threads, s.thread), s.node, s.original,
              rowOrNone(RowsOf::Stacks, s.stack), s.isStackLent);
}

/// How it is known what a thread did.
enum class StateSource : uint8_t {
    Looks,      ///< Somebody looked again and again, as our recorder does.
    Scheduler,  ///< The kernel told of each switch.
    Calls,      ///< A call of the operating system's libraries, which may hold others.
    Samples,    ///< A moment at which it ran, stretched to the next; its stack is what counts.
};

/// What CPU threads did. Of one thread those of one source overlap only if they are calls.
struct CpuStateTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> thread;
    Column<ThreadState> state;
    Column<StateSource> source;
    Column<int64_t> cpuNs, delayNs;  ///< On a core; without one that it wanted.
    Column<StringIndex> call;        ///< What it waits in; 0 if unknown.
    Column<uint32_t> stack;          ///< Row of `StackTable`, or `noIndex`.
    Column<uint32_t> holder;         ///< Thread that has the GIL it waits for, or `noIndex`.
    Column<uint32_t> holderStack;    ///< Row of `StackTable`, or `noIndex`.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<CpuStateTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Threads, s.thread), s.state, s.source,
              s.cpuNs, s.delayNs, rowOf(RowsOf::Strings, s.call),
              rowOrNone(RowsOf::Stacks, s.stack), rowOrNone(RowsOf::Threads, s.holder),
              rowOrNone(RowsOf::Stacks, s.holderStack));
}

/// The numbers are the file's (`ENUM_CUPTI_SYNC_TYPE`).
enum class SyncType : uint8_t {
    Unknown = 0,
    Event = 1,
    StreamWaitEvent = 2,
    Stream = 3,
    Context = 4
};

struct SyncTable {
    Column<int64_t> startNs, endNs;
    Column<SyncType> type;
    Column<uint32_t> stream;  ///< Index into `Trace::streams`, or `noIndex` for a whole context.
    Column<uint32_t> process;
    Column<uint32_t> correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<SyncTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, s.type, rowOrNone(RowsOf::Streams, s.stream),
              rowOf(RowsOf::Processes, s.process), number(s.correlation));
}

/// Calls that have to do with CUDA events: records of an event in a stream, or waits of a stream
/// for one. Only while a trace is loaded; `buildWaits` makes `StreamWaitTable` of them.
struct EventCallTable {
    Column<uint32_t> stream;     ///< In which it is recorded, or that waits.
    Column<uint32_t> event;      ///< Number of the event in its context or process.
    Column<uint32_t> eventSync;  ///< Joins a wait with its record; `noIndex` where not known.
    Column<uint32_t> correlation;
    uint32_t size() const { return static_cast<uint32_t>(stream.size()); }
};
template <Of<EventCallTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Streams, s.stream), number(s.event), number(s.eventSync),
              number(s.correlation));
}

/// Where a stream was told to wait for what another one had been given by then, sorted by waiting
/// stream and the correlation of the call that says to wait.
struct StreamWaitTable {
    Column<uint32_t> waitingStream, waitCorrelation;
    Column<uint32_t> recordedStream, recordCorrelation;  ///< Of the call that records the event.
    Column<uint32_t> byRecord;  ///< Rows in order of recorded stream and its correlation.
    uint32_t size() const { return static_cast<uint32_t>(waitingStream.size()); }
};
template <Of<StreamWaitTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Streams, s.waitingStream), number(s.waitCorrelation),
              rowOf(RowsOf::Streams, s.recordedStream), number(s.recordCorrelation),
              rowOf(RowsOf::StreamWaits, s.byRecord));
}

enum class NvtxStyle : uint8_t { PushPop, StartEnd, Mark };

struct NvtxTable {
    /// Equal for a mark. A range never closed ends with the trace.
    Column<int64_t> startNs, endNs;
    Column<StringIndex> text;
    Column<StringIndex> domain;    ///< Name of the domain; 0 is the default domain.
    Column<StringIndex> category;  ///< Name, 0 if none.
    Column<uint32_t> colorArgb;    ///< 0 if the program gave none.
    Column<uint32_t> thread;       ///< Where it began.
    Column<uint16_t> depth;        ///< Nesting within thread and domain, 0 outermost.
    Column<NvtxStyle> style;
    Column<uint8_t> isOpen;       ///< 1 if the range never ended.
    Column<StringIndex> payload;  ///< The payload as text, 0 if none.
    Column<uint32_t> stack;       ///< Where it began in Python, as `ApiTable::stack`.
    Column<uint8_t> isStackLent;  ///< 1 if the stack is another thread's.
    bool hasColors = false;       ///< Whether the program gave any range a colour.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<NvtxTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Strings, s.text),
              rowOf(RowsOf::Strings, s.domain), rowOf(RowsOf::Strings, s.category),
              number(s.colorArgb), s.hasColors, rowOf(RowsOf::Threads, s.thread), s.depth, s.style,
              s.isOpen, rowOf(RowsOf::Strings, s.payload), rowOrNone(RowsOf::Stacks, s.stack),
              s.isStackLent);
}

/// Which operator is the backward of which: the one went through the gradients of what the other
/// had computed. Sorted by forward and then by backward, each pair once; an operator may have
/// several, as of a backward that ran twice.
struct BackwardTable {
    Column<uint32_t> forward, backward;  ///< Rows of `NvtxTable`.
    Column<uint32_t> byBackward;         ///< Rows in order of `backward`.
    uint32_t size() const { return static_cast<uint32_t>(forward.size()); }
};
template <Of<BackwardTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Nvtx, s.forward), rowOf(RowsOf::Nvtx, s.backward),
              rowOf(RowsOf::Backwards, s.byBackward));
}

/// From the first start to the last end of the GPU work whose launching calls lie in an NVTX range.
struct ProjectionTable {
    Column<int64_t> startNs, endNs;
    Column<uint32_t> nvtx;  ///< Row of `NvtxTable`.
    Column<uint32_t> stream;
    Column<uint32_t> operationCount;
    Column<uint16_t> depth;  ///< Lane within the stream's projection track.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};
template <Of<ProjectionTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, s.startNs, s.endNs, rowOf(RowsOf::Nvtx, s.nvtx),
              rowOf(RowsOf::Streams, s.stream), number(s.operationCount), s.depth);
}

/// What is known of an NCCL call beside its name and size. Most of it only NCCL's profiler plugin
/// tells; negative numbers and text 0 mean that nobody did.
struct NcclFacts {
    StringIndex datatype = 0;   ///< "bfloat16".
    StringIndex algorithm = 0;  ///< "RING", "TREE", "NVLS", ...
    StringIndex protocol = 0;   ///< "LL", "LL128", "SIMPLE".
    StringIndex communicatorName = 0;
    int64_t count = -1;                 ///< Elements of the datatype.
    int64_t sequence = -1;              ///< How many of this operation the communicator had before.
    int32_t rank = -1, rankCount = -1;  ///< Of this process in the communicator.
    int32_t root = -1, peer = -1;
    int16_t channels = -1, warps = -1;
    bool isCaptured = false;             ///< Called while a CUDA graph was captured.
    uint32_t launchThread = 0xffffffff;  ///< Where NCCL launched its kernel; `noIndex` if unknown.
    TimeRange launch;                    ///< On the CPU.
    TimeRange gpu;                       ///< Its work on the GPU, if `operationCount` is not 0.
    uint32_t operationCount = 0;         ///< Kernels and copies on the GPU.
    uint32_t sharedBy = 1;               ///< How many calls that work is done for at once.
    /// How long `gpu` waited for the last rank's work to begin, not beyond its end; -1 if not known
    /// (`buildNcclWaits`).
    int64_t waitedNs = -1;

    /// What is left of `gpu` after waiting: data moves. All of it if waiting is not known.
    TimeRange moving() const {
        return {std::min(gpu.startNs + std::max<int64_t>(waitedNs, 0), gpu.endNs), gpu.endNs};
    }
};

template <Of<NcclFacts> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Strings, s.datatype), rowOf(RowsOf::Strings, s.algorithm),
              rowOf(RowsOf::Strings, s.protocol), rowOf(RowsOf::Strings, s.communicatorName),
              s.count, s.sequence, s.rank, s.rankCount, s.root, s.peer, s.channels, s.warps,
              s.isCaptured, rowOrNone(RowsOf::Threads, s.launchThread), s.launch.startNs,
              s.launch.endNs, s.gpu.startNs, s.gpu.endNs, number(s.operationCount),
              number(s.sharedBy), s.waitedNs);
}

/// NCCL calls: rows of `NvtxTable` that NCCL itself announced, with what it said about them.
struct NcclTable {
    /// The call that is this row of `NvtxTable`; `noIndex` if it is none. O(log n).
    uint32_t rowOf(uint32_t nvtxRow) const {
        const auto found = std::lower_bound(nvtx.begin(), nvtx.end(), nvtxRow);
        return found != nvtx.end() && *found == nvtxRow
                   ? static_cast<uint32_t>(found - nvtx.begin())
                   : noIndex;
    }

    Column<uint32_t> nvtx;          ///< Row of `NvtxTable`, ascending.
    Column<StringIndex> operation;  ///< "AllReduce", "Send", ...
    Column<int64_t> bytes;          ///< Message size this rank passed; -1 if unknown.
    Column<uint64_t> communicator;  ///< NCCL's hash of the communicator; 0 if unknown.
    RecordColumn<NcclFacts> facts;
    uint32_t size() const { return static_cast<uint32_t>(nvtx.size()); }
};
template <Of<NcclTable> S, class V>
void forEachField(S& s, V&& visit) {
    visitEach(visit, rowOf(RowsOf::Nvtx, s.nvtx), rowOf(RowsOf::Strings, s.operation), s.bytes,
              s.communicator, s.facts);
}

}  // namespace lanescope
