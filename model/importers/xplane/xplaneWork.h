// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/format/Memory.h"

namespace lanescope {

/// The properties of a launch in a text such as "regs:32 grid:16,1,1 block:512,1,1".
struct XplaneLaunch {
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t registers = 0, sharedBytes = 0;
};
XplaneLaunch launchOf(std::string_view details);

/// The properties of a copy or memset in "kind_src:pinned kind_dst:device size:4096 async:1" and the name of the event.
struct XplaneCopy {
    MemcpyKind kind = MemcpyKind::Unknown;
    MemoryKind source = MemoryKind::Unknown, destination = MemoryKind::Unknown;
    int64_t bytes = 0;
};
XplaneCopy copyOf(std::string_view name, std::string_view details);

/// Returns true if the name of an event on a stream is that of a copy or memset. All others are kernels.
bool isCopyName(std::string_view name);
bool isMemsetName(std::string_view name);

/// `isApiName` returns true for a host function of CUDA or HIP, the other one for a function of CUDA's driver.
bool isApiName(std::string_view name);
bool isDriverName(std::string_view name);

/// Returns the number after `word` in a text such as "Stream #17(Kernel)" or "/device:GPU:3", or -1.
int64_t numberAfter(std::string_view text, std::string_view word);

}  // namespace lanescope
