// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "model/format/Memory.h"
#include "model/format/tables/Cuda.h"

namespace lanescope::capture {

/// Kinds that are counted separately. Names and numbers are those of `EventCount` in a trace. GPU
/// page faults count as often as their record states.
enum class ImportedKind {
    Kernel,
    Memcpy,
    Migration,
    Memset,
    Graph,
    Api,
    Sync,
    CudaEvent,
    Overhead,
    MemoryEvent,
    CpuPageFault,
    GpuPageFault,
    Nvtx,
    Nccl
};
inline constexpr int importedKindCount = 14;

/// Singular and plural of each kind.
inline constexpr std::pair<const char*, const char*> importedKindNames[importedKindCount] = {
    {"kernel", "kernels"},
    {"memcpy", "memcpys"},
    {"managed migration", migrationsCounted},
    {"memset", "memsets"},
    {"CUDA graph launch", "CUDA graph launches"},
    {"CUDA API call", "CUDA API calls"},
    {"synchronization", "synchronizations"},
    {"CUDA event", "CUDA events"},
    {"profiler overhead", "profiler overheads"},
    {"memory event", "memory events"},
    {"CPU page fault", tables::cpuFaultsCounted},
    {"GPU page fault", tables::gpuFaultsCounted},
    {"NVTX range or mark", "NVTX ranges and marks"},
    {"NCCL operation", "NCCL operations"},
};
constexpr const char* singularName(ImportedKind kind) { return importedKindNames[static_cast<int>(kind)].first; }
constexpr const char* pluralName(ImportedKind kind) { return importedKindNames[static_cast<int>(kind)].second; }

/// Numbers of written events of each kind, and of those without a time.
struct ImportCounts {
    std::array<int64_t, importedKindCount> total{};
    std::array<int64_t, importedKindCount> untimed{};

    int64_t& of(ImportedKind kind) { return total[static_cast<size_t>(kind)]; }
    int64_t of(ImportedKind kind) const { return total[static_cast<size_t>(kind)]; }
    int64_t untimedOf(ImportedKind kind) const { return untimed[static_cast<size_t>(kind)]; }
    /// Returns the events of all kinds; NCCL operations are NVTX ranges and not counted twice.
    int64_t events() const {
        int64_t sum = 0;
        for (const int64_t count : total) sum += count;
        return sum - of(ImportedKind::Nccl);
    }
    ImportCounts& operator+=(const ImportCounts& other) {
        for (size_t index = 0; index < total.size(); ++index) {
            total[index] += other.total[index];
            untimed[index] += other.untimed[index];
        }
        return *this;
    }
};

}  // namespace lanescope::capture
