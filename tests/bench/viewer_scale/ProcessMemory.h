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

/// Number of page faults of this thread.
struct PageFaults {
    int64_t mapped = 0;  ///< Pages that were in RAM.
    int64_t read = 0;    ///< Pages read from the disk.
};

PageFaults threadPageFaults();

/// Returns the kernel CPU time of this thread so far, in milliseconds.
double threadSystemMs();

}  // namespace lanescope
