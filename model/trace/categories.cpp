// SPDX-License-Identifier: Apache-2.0
#include "model/trace/categories.h"

#include <algorithm>
#include <array>

namespace lanescope {

namespace {

template <size_t count>
bool containsAny(std::string_view text, const std::array<std::string_view, count>& words) {
    return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
        return text.find(word) != std::string_view::npos;
    });
}

}  // namespace

SliceCategory apiCategory(std::string_view apiName) {
    static constexpr std::array<std::string_view, 2> waits{"Synchronize", "WaitEvent"};
    static constexpr std::array<std::string_view, 1> launches{"Launch"};
    static constexpr std::array<std::string_view, 8> memory{
        "Memcpy", "Memset", "Malloc", "Free", "cuMem", "MemAdvise", "HostAlloc", "HostRegister"};
    if (containsAny(apiName, waits)) return SliceCategory::ApiSync;
    if (containsAny(apiName, launches)) return SliceCategory::ApiLaunch;
    if (containsAny(apiName, memory)) return SliceCategory::ApiMemory;
    return SliceCategory::ApiOther;
}

bool isAllocation(std::string_view apiName) {
    static constexpr std::array<std::string_view, 8> words{
        "Malloc", "Free",        "MemAlloc",     "HostAlloc",
        "MemMap", "cuMemCreate", "HostRegister", "HostUnregister"};
    return containsAny(apiName, words);
}

SliceCategory kernelCategory(std::string_view kernelName) {
    return kernelName.starts_with("ncclDevKernel") || kernelName.starts_with("ncclKernel")
               ? SliceCategory::NcclKernel
               : SliceCategory::Kernel;
}

SliceCategory memcpyCategory(MemcpyKind kind) {
    switch (kind) {
        case MemcpyKind::HtoD:
        case MemcpyKind::HtoA:
        case MemcpyKind::UvmHtoD:
            return SliceCategory::MemcpyHtoD;
        case MemcpyKind::DtoH:
        case MemcpyKind::AtoH:
        case MemcpyKind::UvmDtoH:
            return SliceCategory::MemcpyDtoH;
        case MemcpyKind::DtoD:
        case MemcpyKind::AtoA:
        case MemcpyKind::AtoD:
        case MemcpyKind::DtoA:
        case MemcpyKind::UvmDtoD:
            return SliceCategory::MemcpyDtoD;
        case MemcpyKind::PtoP:
            return SliceCategory::MemcpyPtoP;
        case MemcpyKind::HtoH:
        case MemcpyKind::Unknown:
            break;
    }
    return SliceCategory::MemcpyOther;
}

}  // namespace lanescope
