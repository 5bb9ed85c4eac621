#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"
#include "model/trace/StringTable.h"

namespace lanescope {

// The events of a trace, one struct of equally long columns per kind, each sorted by start. Times
// are nanoseconds from the start of the session. Events without a time ("not timed" by CUPTI) are
// not here; `Trace::counts` says how many there were.

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
    std::vector<int64_t> startNs, endNs;
    std::vector<uint32_t> config;       ///< Index into `Trace::launchConfigs`.
    std::vector<uint32_t> stream;       ///< Index into `Trace::streams`.
    std::vector<uint32_t> correlation;  ///< Joins with `ApiTable` within one process; 0 = none.
    std::vector<uint64_t> graphNode;    ///< CUDA graph node id, 0 outside a graph.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

struct MemcpyTable {
    std::vector<int64_t> startNs, endNs, bytes;
    std::vector<MemcpyKind> kind;
    std::vector<MemoryKind> sourceMemory, destinationMemory;
    std::vector<int16_t> sourceDevice, destinationDevice;  ///< Index into `Trace::gpus`, or -1.
    std::vector<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// What made managed memory move. The numbers are the file's (`ENUM_CUDA_UNIF_MEM_MIGRATION`).
enum class MigrationCause : uint8_t {
    Unknown = 0,
    UserPrefetch = 1,
    PageFault = 2,
    SpeculativePrefetch = 3,
    Eviction = 4,
    AccessCounters = 5
};

/// More about those memcpys that are migrations of managed memory.
struct MigrationTable {
    std::vector<uint32_t> memcpy;  ///< Row of `MemcpyTable`, ascending.
    std::vector<uint64_t> address;
    std::vector<MigrationCause> cause;
    uint32_t size() const { return static_cast<uint32_t>(memcpy.size()); }
};

struct MemsetTable {
    std::vector<int64_t> startNs, endNs, bytes;
    std::vector<uint32_t> value;
    std::vector<MemoryKind> memory;
    std::vector<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// Launches of CUDA graphs that were recorded as a whole, without the kernels in them.
struct GraphTable {
    std::vector<int64_t> startNs, endNs;
    std::vector<int64_t> graph;  ///< Number of the graph within its process.
    std::vector<uint32_t> stream, correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// Memory that was allocated or freed, as recorded.
struct MemoryEventTable {
    std::vector<int64_t> timeNs, bytes;
    std::vector<uint64_t> address;
    std::vector<MemoryKind> kind;
    std::vector<uint8_t> isFree;    ///< 1: freed, 0: allocated.
    std::vector<uint8_t> isPooled;  ///< 1 if it comes from a memory pool.
    std::vector<uint32_t> process, gpu;
    std::vector<uint32_t> correlation;  ///< Of the call that did it; 0 = none.
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};

/// How large a memory pool was from some moment on.
struct MemoryPoolTable {
    std::vector<int64_t> timeNs, bytes;
    std::vector<uint64_t> address;
    std::vector<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(timeNs.size()); }
};

/// Allocations and the frees that ended them, joined by process and address.
struct AllocationTable {
    std::vector<int64_t> startNs;
    std::vector<int64_t> endNs;  ///< When it was freed; the end of the process if it never was.
    std::vector<int64_t> bytes;
    std::vector<uint64_t> address;
    std::vector<MemoryKind> kind;
    std::vector<uint8_t> isLive;  ///< 1 if it was never freed.
    std::vector<uint8_t> isPooled;
    std::vector<uint32_t> process, gpu;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// The numbers are the file's (`ENUM_CUDA_UNIF_MEM_ACCESS_TYPE`).
enum class FaultAccess : uint8_t { Unknown = 0, Read = 1, Write = 2, Atomic = 3, Prefetch = 4 };

struct PageFaultTable {
    std::vector<int64_t> startNs, endNs;
    std::vector<uint64_t> address;
    std::vector<int64_t> count;  ///< Faults of the CPU are listed one by one.
    std::vector<FaultAccess> access;
    std::vector<uint32_t> process;
    std::vector<uint32_t> gpu;             ///< That faulted; `noIndex` for the CPU.
    std::vector<StringIndex> instruction;  ///< That faulted, on the CPU; 0 if unknown.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

struct ApiTable {
    std::vector<int64_t> startNs, endNs;
    std::vector<StringIndex> name;  ///< Without the `_v3020` suffix of the entry point.
    std::vector<uint32_t> thread;   ///< Index into `Trace::threads`.
    std::vector<uint32_t> correlation;
    std::vector<int32_t> returnValue;
    std::vector<uint8_t> isDriver;  ///< 1 for a driver call, 0 for a runtime call.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// The numbers are the file's (`ENUM_CUPTI_SYNC_TYPE`).
enum class SyncType : uint8_t {
    Unknown = 0,
    Event = 1,
    StreamWaitEvent = 2,
    Stream = 3,
    Context = 4
};

struct SyncTable {
    std::vector<int64_t> startNs, endNs;
    std::vector<SyncType> type;
    std::vector<uint32_t>
        stream;  ///< Index into `Trace::streams`, or `noIndex` for a whole context.
    std::vector<uint32_t> process;
    std::vector<uint32_t> correlation;
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

enum class NvtxStyle : uint8_t { PushPop, StartEnd, Mark };

struct NvtxTable {
    std::vector<int64_t> startNs,
        endNs;  ///< Equal for a mark. A range never closed ends with the trace.
    std::vector<StringIndex> text;
    std::vector<StringIndex> domain;    ///< Name of the domain; 0 is the default domain.
    std::vector<StringIndex> category;  ///< Name, 0 if none.
    std::vector<uint32_t> colorArgb;    ///< 0 if the program gave none.
    std::vector<uint32_t> thread;       ///< Where it began.
    std::vector<uint16_t> depth;        ///< Nesting within thread and domain, 0 outermost.
    std::vector<NvtxStyle> style;
    std::vector<uint8_t> isOpen;       ///< 1 if the range never ended.
    std::vector<StringIndex> payload;  ///< The payload as text, 0 if none.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

/// From the first start to the last end of the GPU work whose launching calls lie in an NVTX range.
struct ProjectionTable {
    std::vector<int64_t> startNs, endNs;
    std::vector<uint32_t> nvtx;  ///< Row of `NvtxTable`.
    std::vector<uint32_t> stream;
    std::vector<uint32_t> operationCount;
    std::vector<uint16_t> depth;  ///< Lane within the stream's projection track.
    uint32_t size() const { return static_cast<uint32_t>(startNs.size()); }
};

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
};

/// NCCL calls: rows of `NvtxTable` that NCCL itself announced, with what it said about them.
struct NcclTable {
    std::vector<uint32_t> nvtx;          ///< Row of `NvtxTable`, ascending.
    std::vector<StringIndex> operation;  ///< "AllReduce", "Send", ...
    std::vector<int64_t> bytes;          ///< Message size this rank passed; -1 if unknown.
    std::vector<uint64_t> communicator;  ///< NCCL's hash of the communicator; 0 if unknown.
    std::vector<NcclFacts> facts;
    uint32_t size() const { return static_cast<uint32_t>(nvtx.size()); }
};

}  // namespace lanescope
