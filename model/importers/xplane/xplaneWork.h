// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/format/Memory.h"

namespace lanescope {

/// What a text such as "regs:32 grid:16,1,1 block:512,1,1" says of a launch.
struct XplaneLaunch {
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t registers = 0, sharedBytes = 0;
};
XplaneLaunch launchOf(std::string_view details);

/// What "kind_src:pinned kind_dst:device size:4096 async:1" and the name of the event say of a copy
/// or of a memset.
struct XplaneCopy {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    int64_t bytes = 0;
};
XplaneCopy copyOf(std::string_view name, std::string_view details);

/// Whether an event on a stream is a copy or a memset by its name; all else are kernels.
bool isCopyName(std::string_view name);
bool isMemsetName(std::string_view name);

/// Whether a function of a host is one of CUDA or HIP, and whether one of CUDA's driver.
bool isApiName(std::string_view name);
bool isDriverName(std::string_view name);

/// The number behind `word` in a text such as "Stream #17(Kernel)" or "/device:GPU:3"; -1 if there
/// is none.
int64_t numberBehind(std::string_view text, std::string_view word);

}  // namespace lanescope
