// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/HostFacts.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <fstream>
#include <string_view>

namespace lanescope::capture {

namespace {

/// What stands after the first `key` that begins a line of `path`, up to the end of the line;
/// without quotes around it and without the separator before it.
std::string valueOf(const char* path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, key.size(), key) != 0) continue;
        const size_t begin = line.find_first_not_of(" \t:=\"", key.size());
        const size_t end = line.find_last_not_of(" \t\"");
        if (begin == std::string::npos || end < begin) return {};
        return line.substr(begin, end - begin + 1);
    }
    return {};
}

}  // namespace

HostFacts queryHostFacts() {
    HostFacts facts;
    facts.operatingSystem = valueOf("/etc/os-release", "PRETTY_NAME");
    facts.cpu = valueOf("/proc/cpuinfo", "model name");
    utsname system{};
    if (::uname(&system) == 0) facts.kernel = system.release;
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) facts.cpuCount = CPU_COUNT(&allowed);
    struct sysinfo memory {};
    if (::sysinfo(&memory) == 0) {
        facts.memoryBytes = static_cast<int64_t>(memory.totalram) * memory.mem_unit;
    }
    return facts;
}

}  // namespace lanescope::capture
