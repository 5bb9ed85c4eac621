// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/format/Table.h"

namespace lanescope::tables {

/// Columns of every table that names numbers; `EnumTables.h` has their rows.
struct Enum : TableOf<Enum> {
    constexpr explicit Enum(const char* tableName = "", const char* rowMeaning = "") : TableOf(tableName, rowMeaning) {}

    Key<"id"> id{this, "the number"};
    OptionalText<"name"> name{this, "NVIDIA's constant"};
    OptionalText<"label"> label{this, "for people"};
};

inline constexpr Enum memcpyKinds{"ENUM_CUDA_MEMCPY_OPER", "a kind of copy, by CUPTI's number"};
inline constexpr Enum memoryKinds{"ENUM_CUDA_MEM_KIND", "a kind of memory, by CUPTI's number less one"};
inline constexpr Enum memoryOperations{"ENUM_CUDA_DEV_MEM_EVENT_OPER", "what was done with memory"};
inline constexpr Enum cacheConfigs{"ENUM_CUDA_FUNC_CACHE_CONFIG", "a preference of caches"};
inline constexpr Enum launchTypes{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "a kind of launch"};
inline constexpr Enum poolOperations{"ENUM_CUDA_MEMPOOL_OPER", "what was done with a pool"};
inline constexpr Enum poolTypes{"ENUM_CUDA_MEMPOOL_TYPE", "whose pool it is"};
inline constexpr Enum sharedMemoryLimits{"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", "a limit of shared memory"};
inline constexpr Enum faultAccesses{"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", "what an access that missed a page was for"};
inline constexpr Enum migrationCauses{"ENUM_CUDA_UNIF_MEM_MIGRATION", "why memory was moved"};
inline constexpr Enum overheadTypes{"ENUM_CUPTI_OVERHEAD_TYPE", "a cost of the profiler"};
inline constexpr Enum streamTypes{"ENUM_CUPTI_STREAM_TYPE", "a kind of stream"};
inline constexpr Enum syncTypes{"ENUM_CUPTI_SYNC_TYPE", "a kind of wait"};
inline constexpr Enum diagnosticSeverities{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "how bad a message is"};
inline constexpr Enum diagnosticSources{"ENUM_DIAGNOSTIC_SOURCE_TYPE", "who says it"};
inline constexpr Enum diagnosticClocks{"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", "whose clock a message's time is of"};
inline constexpr Enum eventTypes{"ENUM_NSYS_EVENT_TYPE", "a kind of event"};
inline constexpr Enum eventClasses{"ENUM_NSYS_EVENT_CLASS", "a class of events"};

}  // namespace lanescope::tables

namespace lanescope {

struct EnumRow {
    int64_t id;
    std::string_view name;   ///< Spelling in NVIDIA's headers.
    std::string_view label;  ///< Label for people, as in Nsight Systems' reports.
};

struct EnumTable {
    const tables::Enum* table;
    std::span<const EnumRow> rows;
};

/// Returns every `ENUM_*` table of a trace, except memcpy and memory kinds, which `Memory.h` names.
std::span<const EnumTable> enumTables();

}  // namespace lanescope
