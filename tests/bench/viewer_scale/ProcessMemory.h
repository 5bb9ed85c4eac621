// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// Resident memory of this process.
struct ProcessMemory {
    int64_t anonymousBytes = 0;  ///< Private memory.
    int64_t mappedBytes = 0;     ///< Memory of files, which the system can reclaim.
};

/// Returns zero if unknown.
ProcessMemory processMemory();

}  // namespace lanescope
