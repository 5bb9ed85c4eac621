// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/Memory.h"
#include "model/trace/EventRef.h"
#include "model/trace/Tables.h"

namespace lanescope {

// One event of each kind, as `TraceBuilder` takes it. Times are nanoseconds from the start of the
// session; texts, threads, streams, processes and GPUs are named by what the builder gave out for
// them. A member that is left out says what a file does that does not tell it.

struct KernelRow {
    int64_t startNs = 0, endNs = 0;
    uint32_t stream = noIndex;
    uint32_t correlation = 0;  ///< Joins it with its call within one process; 0 = none.
    uint64_t graphNode = 0;    ///< 0 outside a CUDA graph.
    LaunchConfig launch = {};
};

struct MemcpyRow {
    int64_t startNs = 0, endNs = 0, bytes = 0;
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind sourceMemory = MemoryKind::Unknown, destinationMemory = MemoryKind::Unknown;
    uint32_t sourceGpu = noIndex, destinationGpu = noIndex;
    uint32_t stream = noIndex;
    uint32_t correlation = 0;
    /// Of a migration of managed memory, which its kind says it is.
    uint64_t address = 0;
    MigrationCause cause = MigrationCause::Unknown;
};

struct MemsetRow {
    int64_t startNs = 0, endNs = 0, bytes = 0;
    uint32_t value = 0;
    MemoryKind memory = MemoryKind::Unknown;
    uint32_t stream = noIndex;
    uint32_t correlation = 0;
};

/// A launch of a CUDA graph that was recorded as a whole.
struct GraphRow {
    int64_t startNs = 0, endNs = 0;
    int64_t graph = 0;  ///< Number of the graph within its process.
    uint32_t stream = noIndex;
    uint32_t correlation = 0;
};

struct MemoryEventRow {
    int64_t timeNs = 0, bytes = 0;
    uint64_t address = 0;
    MemoryKind kind = MemoryKind::Unknown;
    bool isFree = false;    ///< Freed, not allocated.
    bool isPooled = false;  ///< From a memory pool.
    uint32_t process = noIndex, gpu = noIndex;
    uint32_t correlation = 0;
};

/// How large a memory pool was from a moment on.
struct MemoryPoolRow {
    int64_t timeNs = 0, bytes = 0;
    uint64_t address = 0;
    uint32_t process = noIndex, gpu = noIndex;
};

struct PageFaultRow {
    int64_t startNs = 0, endNs = 0;
    uint64_t address = 0;
    int64_t count = 1;
    FaultAccess access = FaultAccess::Unknown;
    uint32_t process = noIndex;
    uint32_t gpu = noIndex;  ///< That faulted; `noIndex` for the CPU.
    StringIndex instruction = 0;
};

struct ApiRow {
    int64_t startNs = 0, endNs = 0;
    StringIndex name = 0;
    uint32_t thread = noIndex;
    uint32_t correlation = 0;
    int32_t returnValue = 0;
    bool isDriver = false;  ///< A driver call, not one of the runtime.
};

struct SyncRow {
    int64_t startNs = 0, endNs = 0;
    SyncType type = SyncType::Unknown;
    uint32_t stream = noIndex;  ///< `noIndex` for a whole context.
    uint32_t process = noIndex;
    uint32_t correlation = 0;
};

/// A call that records a CUDA event in a stream, or makes a stream wait for one.
struct EventCallRow {
    uint32_t stream = noIndex;
    uint32_t event = noIndex;      ///< Number of the event in its context or process.
    uint32_t eventSync = noIndex;  ///< Joins a wait with its record, where that is known.
    uint32_t correlation = 0;
};

struct NvtxRow {
    int64_t startNs = 0, endNs = 0;
    StringIndex text = 0;
    StringIndex domain = 0;  ///< 0 is the default domain.
    StringIndex category = 0;
    uint32_t colorArgb = 0;  ///< 0 if the program gave none.
    uint32_t thread = noIndex;
    NvtxStyle style = NvtxStyle::PushPop;
    bool isOpen = false;  ///< It never ended; `endNs` does not count.
    StringIndex payload = 0;
};

/// What is known of an NVTX range that is a call of NCCL.
struct NcclRow {
    StringIndex operation = 0;  ///< "AllReduce".
    int64_t bytes = -1;         ///< -1 if unknown.
    uint64_t communicator = 0;
    NcclFacts facts = {};
};

}  // namespace lanescope
