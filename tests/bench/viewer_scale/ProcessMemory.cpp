// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/ProcessMemory.h"

#include <malloc.h>
#include <sys/resource.h>

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

PageFaults threadPageFaults() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {usage.ru_minflt, usage.ru_majflt};
}

double threadSystemMs() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return static_cast<double>(usage.ru_stime.tv_sec) * 1e3 + static_cast<double>(usage.ru_stime.tv_usec) / 1e3;
}

}  // namespace lanescope
