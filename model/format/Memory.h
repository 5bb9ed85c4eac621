// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// Source and destination of a memcpy. The numbers are the file's (and CUPTI's).
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

/// Kind of memory. The numbers are the file's, which are CUPTI's less one.
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

/// Returns the short form shown on screen, such as "HtoD", "PtoP", "UVM HtoD".
std::string_view name(MemcpyKind kind);
/// Returns the text by which a search finds such copies, such as "memcpy HtoD".
std::string searchName(MemcpyKind kind);
/// Returns the form in reports as Nsight Systems prints it, such as "Host-to-Device", "Peer-to-Peer".
std::string_view longName(MemcpyKind kind);
/// Returns the short form, such as "pageable", "pinned", "device".
std::string_view name(MemoryKind kind);
/// Returns the form that Nsight Systems prints, such as "Pageable", "Device Static".
std::string_view longName(MemoryKind kind);
/// Returns the `name` column of `ENUM_CUDA_MEMCPY_OPER` and `ENUM_CUDA_MEM_KIND`.
std::string_view enumName(MemcpyKind kind);
std::string_view enumName(MemoryKind kind);
/// Returns `Unknown` for a number outside the enumeration.
MemcpyKind memcpyKindFrom(int64_t number);
MemoryKind memoryKindFrom(int64_t number);

/// Label of migrations of managed memory wherever they are counted.
inline constexpr const char* migrationsCounted = "managed migrations";

/// Returns true if the copy is a migration, which no call launched.
constexpr bool isMigration(MemcpyKind kind) {
    return kind == MemcpyKind::UvmHtoD || kind == MemcpyKind::UvmDtoH || kind == MemcpyKind::UvmDtoD;
}

}  // namespace lanescope
