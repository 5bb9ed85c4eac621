// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope {

/// Memory of this process that is in RAM.
struct ProcessMemory {
    int64_t anonymousBytes = 0;  ///< Its own.
    int64_t mappedBytes = 0;     ///< Of files, which the system can take back.
};

/// Zero where the system does not say.
ProcessMemory processMemory();

/// How many pages this thread has touched that were not mapped.
struct PageFaults {
    int64_t mapped = 0;  ///< Those that were in RAM.
    int64_t read = 0;    ///< Those that had to be read from the disk.
};

PageFaults threadPageFaults();

/// CPU time that the kernel took for this thread so far, in milliseconds.
double threadSystemMs();

}  // namespace lanescope
