// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope {

/// What a slice is, for its colour and its legend.
enum class SliceCategory : uint8_t {
    Kernel,
    NcclKernel,
    NcclWait,  ///< The part of a kernel of NCCL that waits for other ranks.
    MemcpyHtoD,
    MemcpyDtoH,
    MemcpyDtoD,
    MemcpyPtoP,
    MemcpyOther,
    Memset,
    ApiLaunch,
    ApiMemory,
    ApiSync,
    ApiOther,
    Nvtx,
    NcclCall,
    Projection,
    Graph,
    ManagedMemory,  ///< What befell it, but for copies.
    Counter,
    Busy,
    CpuRunning,
    CpuNoCore,  ///< Could run.
    CpuGil,     ///< Waits for it.
    CpuLock,    ///< Waits for another thread or process.
    CpuInput,   ///< Waits for data, a disk or a driver.
    CpuSleep,
    CpuFrame,  ///< A function on the stack of a thread.
    CpuMixed,  ///< Ran and waited by turns, between looks.
};
inline constexpr size_t sliceCategoryCount = 28;

constexpr bool isOfNcclKernel(SliceCategory category) {
    return category == SliceCategory::NcclKernel || category == SliceCategory::NcclWait;
}

}  // namespace lanescope
