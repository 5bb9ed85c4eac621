// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/format/Table.h"

namespace lanescope::tables {

/// Columns of each `ENUM_*` table. `Enums.cpp` contains the rows.
struct Enum : TableOf<Enum> {
    constexpr explicit Enum(const char* tableName = "", const char* rowMeaning = "") : TableOf(tableName, rowMeaning) {}
    Key<"id"> id{this, "number"};
    OptionalText<"name"> name{this, "name of the constant in NVIDIA's headers"};
    OptionalText<"label"> label{this, "name shown to users"};
};

inline constexpr Enum memcpyKinds{"ENUM_CUDA_MEMCPY_OPER", "a kind of copy, by CUPTI number"};
inline constexpr Enum memoryKinds{"ENUM_CUDA_MEM_KIND", "a kind of memory, by CUPTI number minus 1"};
inline constexpr Enum memoryOperations{"ENUM_CUDA_DEV_MEM_EVENT_OPER", "a memory operation"};
inline constexpr Enum cacheConfigs{"ENUM_CUDA_FUNC_CACHE_CONFIG", "a cache preference of a kernel"};
inline constexpr Enum launchTypes{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "a kind of kernel launch"};
inline constexpr Enum poolOperations{"ENUM_CUDA_MEMPOOL_OPER", "a memory pool operation"};
inline constexpr Enum poolTypes{"ENUM_CUDA_MEMPOOL_TYPE", "an origin of a memory pool (local or imported)"};
inline constexpr Enum sharedMemoryLimits{"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", "a limit of shared memory"};
inline constexpr Enum faultAccesses{"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", "a kind of memory access that caused a fault"};
inline constexpr Enum migrationCauses{"ENUM_CUDA_UNIF_MEM_MIGRATION", "a cause of a memory migration"};
inline constexpr Enum overheadTypes{"ENUM_CUPTI_OVERHEAD_TYPE", "a kind of profiler overhead"};
inline constexpr Enum streamTypes{"ENUM_CUPTI_STREAM_TYPE", "a kind of stream"};
inline constexpr Enum syncTypes{"ENUM_CUPTI_SYNC_TYPE", "a kind of synchronization"};
inline constexpr Enum diagnosticSeverities{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "a severity of a message"};
inline constexpr Enum diagnosticSources{"ENUM_DIAGNOSTIC_SOURCE_TYPE", "a source of a message"};
inline constexpr Enum diagnosticClocks{"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", "a clock of message times"};
inline constexpr Enum eventTypes{"ENUM_NSYS_EVENT_TYPE", "a kind of event"};
inline constexpr Enum eventClasses{"ENUM_NSYS_EVENT_CLASS", "a class of events"};

}  // namespace lanescope::tables

namespace lanescope {

struct EnumRow {
    int64_t id;
    std::string_view name;   ///< Spelling in NVIDIA's headers.
    std::string_view label;  ///< Label shown to users, as in reports of Nsight Systems.
};

struct EnumTable {
    const tables::Enum* table;
    std::span<const EnumRow> rows;
};

/// Returns every `ENUM_*` table of a trace, except memcpy and memory kinds (`Memory.h`).
std::span<const EnumTable> enumTables();

}  // namespace lanescope
