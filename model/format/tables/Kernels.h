// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Kernels : TableOf<Kernels> {
    constexpr Kernels()
        : TableOf("CUPTI_ACTIVITY_KIND_KERNEL", "a kernel on the GPU", Content::Events) {}

    Integer<"start"> start{this, "when it began, ns"};
    Integer<"end"> end{this, "when it ended, ns"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"greenContextId"> greenContextId{this,
                                                     "number of the green context; not filled"};
    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"correlationId"> correlationId{
        this, "joins it with the API call of the same process that launched it"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    Integer<"demangledName"> demangledName{this, "name with its parameters, in StringIds"};
    Integer<"shortName"> shortName{this, "name without parameters, in StringIds"};
    OptionalInteger<"mangledName"> mangledName{this, "name as the compiler wrote it, in StringIds"};
    OptionalInteger<"launchType"> launchType{this, "as ENUM_CUDA_KERNEL_LAUNCH_TYPE"};
    OptionalInteger<"cacheConfig"> cacheConfig{this, "as ENUM_CUDA_FUNC_CACHE_CONFIG"};
    Integer<"registersPerThread"> registersPerThread{this, "registers of each thread"};
    Integer<"gridX"> gridX{this, "blocks in x"};
    Integer<"gridY"> gridY{this, "blocks in y"};
    Integer<"gridZ"> gridZ{this, "blocks in z"};
    Integer<"blockX"> blockX{this, "threads of a block in x"};
    Integer<"blockY"> blockY{this, "threads of a block in y"};
    Integer<"blockZ"> blockZ{this, "threads of a block in z"};
    Integer<"staticSharedMemory"> staticSharedMemory{this, "of a block, bytes"};
    Integer<"dynamicSharedMemory"> dynamicSharedMemory{this, "of a block, bytes"};
    Integer<"localMemoryPerThread"> localMemoryPerThread{this, "bytes"};
    Integer<"localMemoryTotal"> localMemoryTotal{this, "of the whole kernel, bytes"};
    Integer<"gridId"> gridId{this, "the driver's number of the launch"};
    OptionalInteger<"sharedMemoryExecuted"> sharedMemoryExecuted{
        this, "shared memory that the driver set aside for a block, bytes"};
    OptionalInteger<"graphNodeId"> graphNodeId{
        this, "node of the CUDA graph it was launched by; NULL outside one"};
    OptionalInteger<"sharedMemoryLimitConfig"> sharedMemoryLimitConfig{
        this, "as ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG"};
    OptionalInteger<"qmdBulkReleaseDone"> qmdBulkReleaseDone{this, "not filled"};
    OptionalInteger<"qmdPreexitDone"> qmdPreexitDone{this, "not filled"};
    OptionalInteger<"qmdLastCtaDone"> qmdLastCtaDone{this, "not filled"};
    OptionalInteger<"graphId"> graphId{this, "CUPTI's number of that graph; NULL outside one"};
    OptionalInteger<"clusterX"> clusterX{this, "blocks of a cluster in x; 0 without clusters"};
    OptionalInteger<"clusterY"> clusterY{this, "blocks of a cluster in y"};
    OptionalInteger<"clusterZ"> clusterZ{this, "blocks of a cluster in z"};
    OptionalInteger<"clusterSchedulingPolicy"> clusterSchedulingPolicy{
        this, "CUDA's number of how clusters are spread over the SMs"};
    OptionalInteger<"maxPotentialClusterSize"> maxPotentialClusterSize{this, "blocks; not filled"};
    OptionalInteger<"maxActiveClusters"> maxActiveClusters{this, "not filled"};
    OptionalInteger<"sharedMemoryRequestedPercentage"> sharedMemoryRequestedPercentage{
        this, "share of the L1 cache that was asked for as shared memory, %"};
    OptionalText<"tensorSizeMinusOneElements"> tensorSizeMinusOneElements{this, "not filled"};
};
inline constexpr Kernels kernels;

}  // namespace lanescope::tables
