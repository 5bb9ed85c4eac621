// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfEvents.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "capture/machine/fileLimit.h"

namespace lanescope::capture {

namespace {

/// Of all rings together, and of one: as much as the kernel lends to a user for each core.
constexpr size_t allRingBytes = size_t{128} << 20;
constexpr size_t mostRingBytes = size_t{512} << 10, leastRingBytes = size_t{64} << 10;
constexpr int mostCores = 8192;

int openEvent(perf_event_attr& asked, pid_t process, int core) {
    return static_cast<int>(::syscall(SYS_perf_event_open, &asked, process, core, -1,
                                      static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

std::string lineOf(const char* file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

bool hasSeccompFilter() {
    std::ifstream stream("/proc/self/status");
    std::string line;
    while (std::getline(stream, line))
        if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
    return false;
}

std::string refusalNow(int error) {
    return perfRefusal(error, lineOf("/proc/sys/kernel/perf_event_paranoid"), hasSeccompFilter());
}

/// "0-3,8" of /sys/devices/system/cpu/online.
std::vector<int> onlineCores() {
    std::vector<int> cores;
    std::istringstream text(lineOf("/sys/devices/system/cpu/online"));
    std::string part;
    while (std::getline(text, part, ',')) {
        int from = 0, until = 0;
        const int count = std::sscanf(part.c_str(), "%d-%d", &from, &until);
        if (count < 1) continue;
        if (count < 2) until = from;
        for (int core = from; core <= std::min(until, mostCores); ++core) cores.push_back(core);
    }
    if (cores.empty())
        for (long core = 0; core < ::sysconf(_SC_NPROCESSORS_ONLN); ++core)
            cores.push_back(static_cast<int>(core));
    return cores;
}

/// Where a user may lock no more memory, since others have what there was, a smaller one will do.
PerfRing mapRing(int event, size_t& bytes) {
    for (;;) {
        PerfRing ring(event, bytes);
        if (ring || errno != EPERM || bytes <= leastRingBytes) return ring;
        bytes /= 2;
    }
}

}  // namespace

std::string perfRefusal(int error, const std::string& paranoid, bool isFiltered) {
    if (error == ENOSYS || error == ENOENT)
        return "This system's kernel has no perf events (perf_event_open).";
    if (error != EPERM && error != EACCES)
        return fmt::format("The kernel refuses perf events (perf_event_open): {}.",
                           std::strerror(error));
    const int level = paranoid.empty() ? 0 : std::atoi(paranoid.c_str());
    if (isFiltered && (error == EPERM || level <= 2))
        return "A seccomp filter, as containers have one, refuses perf events (perf_event_open): "
               "start the container with --cap-add PERFMON or --security-opt seccomp=unconfined.";
    if (level > 2)
        return fmt::format(
            "The kernel keeps perf events (perf_event_open) to administrators, as "
            "kernel.perf_event_paranoid is {}: 'sysctl kernel.perf_event_paranoid=2' by root "
            "allows them, as do being root and the capability CAP_PERFMON.",
            level);
    return fmt::format(
        "The kernel refuses perf events (perf_event_open) of this program: {}. A "
        "security module or a capability that is lacking may be why.",
        std::strerror(error));
}

Result<PerfSettings> tryPerfEvents() {
    PerfSettings settings;
    for (const bool seesKernel : {true, false}) {
        settings.seesKernel = seesKernel;
        perf_event_attr asked = perfAttributes(settings);
        const int event = openEvent(asked, 0, -1);
        if (event >= 0) {
            ::close(event);
            return settings;
        }
        if (errno != EACCES && errno != EPERM) break;
    }
    return fail("{}", refusalNow(errno));
}

Result<PerfEvents> PerfEvents::open(pid_t process, PerfSettings settings) {
    const auto allowed = tryPerfEvents();
    if (!allowed) return fail(allowed.error());
    settings.seesKernel = settings.seesKernel && allowed->seesKernel;
    raiseFileLimit();
    const std::vector<int> cores = onlineCores();
    size_t ringBytes = std::clamp(std::bit_floor(allRingBytes / std::max<size_t>(cores.size(), 1)),
                                  leastRingBytes, mostRingBytes);
    PerfEvents events;
    events.settings_ = settings;
    for (const int core : cores) {
        perf_event_attr asked = perfAttributes(settings);
        asked.wakeup_watermark = static_cast<uint32_t>(ringBytes / 4);
        const int event = openEvent(asked, process, core);
        if (event < 0) {
            if (errno == ENODEV) continue;  // It has just been taken away.
            return fail("{}", refusalNow(errno));
        }
        events.descriptors_.push_back(event);
        PerfRing ring = mapRing(event, ringBytes);
        if (!ring)
            return fail(
                "The kernel lends no buffers for perf events ({}): 'sysctl "
                "kernel.perf_event_mlock_kb' says how much a user may have for each core, "
                "and 'ulimit -l' how much beyond that.",
                std::strerror(errno));
        events.rings_.push_back(std::move(ring));
    }
    if (events.rings_.empty()) return fail("No core was found to have perf events on.");
    return events;
}

PerfEvents::~PerfEvents() {
    rings_.clear();
    for (const int event : descriptors_) ::close(event);
}

}  // namespace lanescope::capture
