// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct MemoryEvents : TableOf<MemoryEvents> {
    constexpr MemoryEvents()
        : TableOf("CUDA_GPU_MEMORY_USAGE_EVENTS",
                  "memory was allocated or freed; what was allocated at an address is freed by the "
                  "next event of the process that frees it",
                  Content::Events) {}

    Integer<"start"> start{this, "when, ns"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    Integer<"address"> address{this, "where it begins"};
    Integer<"pc"> pc{this, "address of the code that called"};
    Integer<"bytes"> bytes{this, "size, bytes"};
    Integer<"memKind"> memKind{this, "as ENUM_CUDA_MEM_KIND"};
    Integer<"memoryOperationType"> memoryOperationType{this, "as ENUM_CUDA_DEV_MEM_EVENT_OPER"};
    OptionalText<"name"> name{this, "of the variable, for what a module brings along"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process"};
    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"localMemoryPoolAddress"> localMemoryPoolAddress{
        this, "the pool of the process that it came from; NULL if from none"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{
        this, "what that pool keeps, bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "size of that pool, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{
        this, "of it in use, bytes"};
    OptionalInteger<"importedMemoryPoolAddress"> importedMemoryPoolAddress{
        this, "the pool of another process that it came from; NULL if from none"};
    OptionalInteger<"importedMemoryPoolProcessId"> importedMemoryPoolProcessId{
        this, "that process, a plain PID"};
};
inline constexpr MemoryEvents memoryEvents;

struct PoolEvents : TableOf<PoolEvents> {
    constexpr PoolEvents()
        : TableOf("CUDA_GPU_MEMORY_POOL_EVENTS", "a memory pool was created, destroyed or trimmed",
                  Content::Events) {}

    Integer<"start"> start{this, "when, ns"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "the pool"};
    Integer<"operationType"> operationType{this, "as ENUM_CUDA_MEMPOOL_OPER"};
    Integer<"poolType"> poolType{this, "as ENUM_CUDA_MEMPOOL_TYPE"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process"};
    OptionalInteger<"minBytesToKeep"> minBytesToKeep{this, "what trimming was to leave, bytes"};
    OptionalInteger<"localMemoryPoolReleaseThreshold"> localMemoryPoolReleaseThreshold{
        this, "what a pool of the process keeps, bytes"};
    OptionalInteger<"localMemoryPoolSize"> localMemoryPoolSize{this, "its size, bytes"};
    OptionalInteger<"localMemoryPoolUtilizedSize"> localMemoryPoolUtilizedSize{
        this, "of it in use, bytes"};
};
inline constexpr PoolEvents poolEvents;

}  // namespace lanescope::tables
