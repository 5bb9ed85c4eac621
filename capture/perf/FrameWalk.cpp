// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/FrameWalk.h"

#include <cstring>

namespace lanescope::capture {

std::vector<uint64_t> walkFramePointers(const PerfRegisters& registers,
                                        std::span<const std::byte> memory) {
    std::vector<uint64_t> addresses{registers.programCounter};
    uint64_t frame = registers.framePointer;
    // Frames lie one above the other: who goes down follows no stack.
    uint64_t least = registers.stackPointer;
    while (addresses.size() < mostNativeFrames) {
        const uint64_t offset = frame - registers.stackPointer;
        uint64_t words[2];  // The frame of the caller, and where the call returns to.
        if (frame < least || frame % sizeof(uint64_t) != 0 || offset > memory.size() ||
            memory.size() - offset < sizeof(words))
            break;
        std::memcpy(words, memory.data() + offset, sizeof(words));
        if (words[1] == 0) break;
        addresses.push_back(words[1] - 1);
        least = frame + sizeof(words);
        frame = words[0];
    }
    return addresses;
}

}  // namespace lanescope::capture
