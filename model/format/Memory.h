// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// What a memcpy copies from and to. The numbers are the file's (and CUPTI's).
enum class MemcpyKind : uint8_t {
    Unknown = 0,
    HtoD = 1,
    DtoH = 2,
    HtoA = 3,
    AtoH = 4,
    AtoA = 5,
    AtoD = 6,
    DtoA = 7,
    DtoD = 8,
    HtoH = 9,
    PtoP = 10,
    UvmHtoD = 11,
    UvmDtoH = 12,
    UvmDtoD = 13,
};
inline constexpr int memcpyKindCount = 14;

/// Where memory lives. The numbers are the file's, which are CUPTI's less one.
enum class MemoryKind : uint8_t {
    Pageable = 0,
    Pinned = 1,
    Device = 2,
    Array = 3,
    Managed = 4,
    DeviceStatic = 5,
    ManagedStatic = 6,
    Unknown = 7,
};
inline constexpr int memoryKindCount = 8;

/// "HtoD", "PtoP", "UVM HtoD"; the short form used on screen.
std::string_view name(MemcpyKind kind);
/// "memcpy HtoD": by what a search finds such copies.
std::string searchName(MemcpyKind kind);
/// "Host-to-Device", "Peer-to-Peer"; the form in reports, as Nsight Systems prints it.
std::string_view longName(MemcpyKind kind);
/// "pageable", "pinned", "device".
std::string_view name(MemoryKind kind);
/// "Pageable", "Device Static"; as Nsight Systems prints it.
std::string_view longName(MemoryKind kind);
/// The `name` column of `ENUM_CUDA_MEMCPY_OPER` and `ENUM_CUDA_MEM_KIND`.
std::string_view enumName(MemcpyKind kind);
std::string_view enumName(MemoryKind kind);
/// `Unknown` for a number outside the enumeration.
MemcpyKind memcpyKindFrom(int64_t number);
MemoryKind memoryKindFrom(int64_t number);

/// What migrations of managed memory are called wherever they are counted.
inline constexpr const char* migrationsCounted = "managed migrations";

/// Whether the copy is one, which no call asked for.
constexpr bool isMigration(MemcpyKind kind) {
    return kind == MemcpyKind::UvmHtoD || kind == MemcpyKind::UvmDtoH ||
           kind == MemcpyKind::UvmDtoD;
}

}  // namespace lanescope
