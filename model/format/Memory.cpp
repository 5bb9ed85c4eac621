// SPDX-License-Identifier: Apache-2.0
#include "model/format/Memory.h"

#include <array>

namespace lanescope {

namespace {

struct Names {
    std::string_view shortName;
    std::string_view longName;
    std::string_view enumName;
};

constexpr std::array<Names, memcpyKindCount> memcpyNames{{
    {"memcpy", "Unknown", "CUDA_MEMCPY_KIND_UNKNOWN"},
    {"HtoD", "Host-to-Device", "CUDA_MEMCPY_KIND_HTOD"},
    {"DtoH", "Device-to-Host", "CUDA_MEMCPY_KIND_DTOH"},
    {"HtoA", "Host-to-Array", "CUDA_MEMCPY_KIND_HTOA"},
    {"AtoH", "Array-to-Host", "CUDA_MEMCPY_KIND_ATOH"},
    {"AtoA", "Array-to-Array", "CUDA_MEMCPY_KIND_ATOA"},
    {"AtoD", "Array-to-Device", "CUDA_MEMCPY_KIND_ATOD"},
    {"DtoA", "Device-to-Array", "CUDA_MEMCPY_KIND_DTOA"},
    {"DtoD", "Device-to-Device", "CUDA_MEMCPY_KIND_DTOD"},
    {"HtoH", "Host-to-Host", "CUDA_MEMCPY_KIND_HTOH"},
    {"PtoP", "Peer-to-Peer", "CUDA_MEMCPY_KIND_PTOP"},
    {"UVM HtoD", "Unified Host-to-Device", "CUDA_MEMCPY_KIND_UVM_HTOD"},
    {"UVM DtoH", "Unified Device-to-Host", "CUDA_MEMCPY_KIND_UVM_DTOH"},
    {"UVM DtoD", "Unified Device-to-Device", "CUDA_MEMCPY_KIND_UVM_DTOD"},
}};

constexpr std::array<Names, memoryKindCount> memoryNames{{
    {"pageable", "Pageable", "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE"},
    {"pinned", "Pinned", "CUDA_MEMOPR_MEMORY_KIND_PINNED"},
    {"device", "Device", "CUDA_MEMOPR_MEMORY_KIND_DEVICE"},
    {"array", "Array", "CUDA_MEMOPR_MEMORY_KIND_ARRAY"},
    {"managed", "Managed", "CUDA_MEMOPR_MEMORY_KIND_MANAGED"},
    {"device static", "Device Static", "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC"},
    {"managed static", "Managed Static", "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC"},
    {"unknown", "Unknown", "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN"},
}};

const Names& namesOf(MemcpyKind kind) {
    const auto index = static_cast<size_t>(kind);
    return memcpyNames[index < memcpyNames.size() ? index : 0];
}

const Names& namesOf(MemoryKind kind) {
    const auto index = static_cast<size_t>(kind);
    return memoryNames[index < memoryNames.size() ? index : memoryNames.size() - 1];
}

}  // namespace

std::string_view name(MemcpyKind kind) { return namesOf(kind).shortName; }
std::string searchName(MemcpyKind kind) { return "memcpy " + std::string(name(kind)); }
std::string_view longName(MemcpyKind kind) { return namesOf(kind).longName; }
std::string_view enumName(MemcpyKind kind) { return namesOf(kind).enumName; }
std::string_view name(MemoryKind kind) { return namesOf(kind).shortName; }
std::string_view longName(MemoryKind kind) { return namesOf(kind).longName; }
std::string_view enumName(MemoryKind kind) { return namesOf(kind).enumName; }

MemcpyKind memcpyKindFrom(int64_t number) {
    return number >= 0 && number < memcpyKindCount ? static_cast<MemcpyKind>(number) : MemcpyKind::Unknown;
}

MemoryKind memoryKindFrom(int64_t number) {
    return number >= 0 && number < memoryKindCount ? static_cast<MemoryKind>(number) : MemoryKind::Unknown;
}

}  // namespace lanescope
