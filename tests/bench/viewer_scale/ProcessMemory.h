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

}  // namespace lanescope
