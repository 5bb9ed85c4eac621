// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/ProcessMemory.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace lanescope {

ProcessMemory processMemory() {
    ::malloc_trim(0);  // freed memory does not belong to the trace
    ProcessMemory memory;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        const auto kilobytes = [&line] { return std::stoll(line.substr(line.find(':') + 1)); };
        if (line.starts_with("RssAnon:")) memory.anonymousBytes = kilobytes() * 1024;
        if (line.starts_with("RssFile:")) memory.mappedBytes = kilobytes() * 1024;
    }
    return memory;
}

}  // namespace lanescope
