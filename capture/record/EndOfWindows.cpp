// SPDX-License-Identifier: Apache-2.0
#include "capture/record/EndOfWindows.h"

#include <signal.h>

#include <cerrno>

namespace lanescope::capture {

namespace {

constexpr int64_t settlingNs = 1'000'000'000;

bool isAlive(uint32_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

}  // namespace

EndOfWindows::EndOfWindows(const agent::WindowOptions& windows, int64_t startRealtimeNs)
    : count_(windows.count()) {
    if (!windows.areInsideProgram() && windows.durationNs > 0)
        endRealtimeNs_ = startRealtimeNs + windows.delayNs + windows.durationNs;
}

bool EndOfWindows::isReached(const Collector& collector, int64_t nowRealtimeNs) {
    if (endRealtimeNs_) return nowRealtimeNs >= *endRealtimeNs_;
    if (!haveAllEnded(collector)) {
        allEndedSinceNs_.reset();
        return false;
    }
    if (!allEndedSinceNs_) allEndedSinceNs_ = nowRealtimeNs;
    return nowRealtimeNs - *allEndedSinceNs_ >= settlingNs;
}

bool EndOfWindows::haveAllEnded(const Collector& collector) const {
    bool hasOneEnded = false;
    for (const WindowProgress& process : collector.windowProgress()) {
        const bool hasEnded = count_ && static_cast<int64_t>(process.ended) >= *count_;
        if (!hasEnded && process.begun > 0 && isAlive(process.pid)) return false;
        hasOneEnded = hasOneEnded || hasEnded;
    }
    return hasOneEnded;
}

}  // namespace lanescope::capture
