// SPDX-License-Identifier: Apache-2.0
#include "model/build/StreamRole.h"

#include <algorithm>

namespace lanescope {

namespace {

/// How many operations of each kind ran.
struct Tally {
    int64_t kernels = 0;
    int64_t nccl = 0;
    int64_t copies = 0;
    int64_t memsets = 0;

    void add(SliceCategory category) {
        switch (category) {
            case SliceCategory::NcclKernel:
            case SliceCategory::NcclWait:
                ++nccl;
                return;
            case SliceCategory::MemcpyHtoD:
            case SliceCategory::MemcpyDtoH:
            case SliceCategory::MemcpyDtoD:
            case SliceCategory::MemcpyPtoP:
            case SliceCategory::MemcpyOther:
                ++copies;
                return;
            case SliceCategory::Memset:
                ++memsets;
                return;
            case SliceCategory::Kernel:
            case SliceCategory::Graph:
                ++kernels;
                return;
            case SliceCategory::ApiLaunch:
            case SliceCategory::ApiMemory:
            case SliceCategory::ApiSync:
            case SliceCategory::ApiOther:
            case SliceCategory::Nvtx:
            case SliceCategory::NcclCall:
            case SliceCategory::Projection:
            case SliceCategory::ManagedMemory:
            case SliceCategory::Counter:
            case SliceCategory::Busy:
            case SliceCategory::CpuRunning:
            case SliceCategory::CpuNoCore:
            case SliceCategory::CpuGil:
            case SliceCategory::CpuLock:
            case SliceCategory::CpuInput:
            case SliceCategory::CpuSleep:
            case SliceCategory::CpuFrame:
            case SliceCategory::CpuMixed:
                return;
        }
    }
};

}  // namespace

StreamRole roleOf(const std::vector<Lane>& lanes) {
    Tally tally;
    for (const Lane& lane : lanes)
        for (const SliceCategory category : lane.category) tally.add(category);
    if (tally.nccl > tally.kernels) return StreamRole::Communication;
    if (tally.kernels >= std::max(tally.copies, tally.memsets)) return StreamRole::Compute;
    return tally.copies >= tally.memsets ? StreamRole::Copies : StreamRole::Memset;
}

std::string_view nameOf(StreamRole role) {
    switch (role) {
        case StreamRole::Compute:
            return "Compute";
        case StreamRole::Communication:
            return "Communication";
        case StreamRole::Copies:
            return "Copies";
        case StreamRole::Memset:
            return "Memset";
        case StreamRole::UnifiedMemory:
            return "Unified memory";
    }
    return {};
}

}  // namespace lanescope
