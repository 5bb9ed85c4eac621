// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/driverCalls.h"

#include <algorithm>
#include <iterator>

namespace lanescope::agent {

namespace {

struct NamedKind {
    std::string_view prefix;
    DriverCallKind kind;
};

// The first that suits counts, so longer names stand before shorter ones.
constexpr NamedKind working[] = {
    {"cuLaunch", DriverCallKind::Other},
    {"cuGraphLaunch", DriverCallKind::Other},
    {"cuMemcpy", DriverCallKind::Other},
    {"cuMemset", DriverCallKind::Other},
    {"cuMemPrefetch", DriverCallKind::Other},
    {"cuEventRecord", DriverCallKind::EventRecord},
    {"cuEventSynchronize", DriverCallKind::EventWait},
    {"cuStreamWaitEvent", DriverCallKind::StreamWait},
    {"cuStreamSynchronize", DriverCallKind::StreamSync},
    {"cuCtxSynchronize", DriverCallKind::ContextSync},
    {"cuStreamWaitValue", DriverCallKind::Other},
    {"cuStreamWriteValue", DriverCallKind::Other},
    {"cuStreamBatchMemOp", DriverCallKind::Other},
};

constexpr std::string_view explaining[] = {
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolTrimTo",
    "cuMemAdvise",
    "cuModuleLoad",
    "cuModuleUnload",
    "cuLibraryLoad",
    "cuLibraryUnload",
    "cuGraphInstantiate",
    "cuGraphExecUpdate",
    "cuGraphExecDestroy",
    "cuGraphUpload",
    "cuStreamBeginCapture",
    "cuStreamEndCapture",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxReset",
    "cuProfilerStart",
    "cuProfilerStop",
    "cuMulticast",
    "cuIpcOpen",
    "cuIpcClose",
    "cuCtxEnablePeerAccess",
};

bool startsWith(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

DriverCallKind driverCallKind(std::string_view callbackName, bool onlyWork) {
    for (const NamedKind& named : working) {
        if (startsWith(callbackName, named.prefix)) return named.kind;
    }
    const bool explains = !onlyWork && std::any_of(std::begin(explaining), std::end(explaining),
                                                   [&](std::string_view prefix) {
                                                       return startsWith(callbackName, prefix);
                                                   });
    return explains ? DriverCallKind::Other : DriverCallKind::None;
}

}  // namespace lanescope::agent
