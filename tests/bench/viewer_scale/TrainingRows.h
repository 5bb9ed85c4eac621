// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/format/Memory.h"

namespace lanescope::bench {

// Rows of a simulated trace in file format, one training step at a time. Names are ids into
// `SimulatedNames`, ranks are processes, times nanoseconds from the start.

struct KernelRow {
    int64_t startNs, endNs;
    uint32_t correlation;
    uint16_t kernel;  ///< Index into the kernel names.
    uint16_t gridX;
    uint8_t rank, stream;
};

struct MemcpyRow {
    int64_t startNs, endNs, bytes;
    uint32_t correlation;
    MemcpyKind kind;
    MemoryKind source, destination;
    uint8_t rank, stream;
};

struct MemsetRow {
    int64_t startNs, endNs, bytes;
    uint32_t correlation;
    uint8_t rank, stream;
};

struct ApiRow {
    int64_t startNs, endNs;
    uint32_t correlation;
    uint8_t call;  ///< Index into the names of API calls.
    uint8_t rank, thread;
};

struct SyncRow {
    int64_t startNs, endNs;
    uint32_t correlation;
    uint8_t rank, stream;
};

struct MemoryEventRow {
    int64_t timeNs, bytes, address;
    bool isFree;
    uint8_t rank;
};

struct NvtxRow {
    int64_t startNs, endNs;
    int64_t ncclBytes;  ///< -1: no NCCL call.
    uint16_t range;     ///< Index into the range names; the name of a step is followed by `step`.
    uint32_t step;
    uint8_t rank, thread;
};

/// The rows of one step of all ranks, each kind sorted by start.
struct StepRows {
    std::vector<KernelRow> kernels;
    std::vector<MemcpyRow> memcpys;
    std::vector<MemsetRow> memsets;
    std::vector<ApiRow> calls;
    std::vector<SyncRow> syncs;
    std::vector<MemoryEventRow> memoryEvents;
    std::vector<NvtxRow> ranges;

    void clear();
    void sort();
    int64_t count() const;
};

/// All names except step numbers.
struct SimulatedNames {
    struct Kernel {
        std::string demangled, shortName;
    };
    std::vector<Kernel> kernels;
    std::vector<std::string> calls, ranges, threads;
};

}  // namespace lanescope::bench
