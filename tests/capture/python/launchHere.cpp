// SPDX-License-Identifier: Apache-2.0
// SIMULATED: lets Python programs launch kernels, by ctypes, on the GPU that the stand-in for
// libcupti plays, with the agent beside them.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>

#include "tests/capture/standin/SimulatedCupti.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

SimulateRecordFunction* simulateRecord = nullptr;
SimulateDriverCallFunction* simulateDriverCall = nullptr;
std::atomic<uint32_t> lastCorrelation{0};

template <class Function>
bool find(Function*& function, void* library, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
}

uint64_t nowNs() {
    timespec time;
    ::clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

/// What the driver does in cuInit, and a first context. Answers 0 if it could.
EXPORT int beginCuda(const char* agent, const char* cupti) {
    void* const agentLibrary = ::dlopen(agent, RTLD_NOW | RTLD_LOCAL);
    void* const cuptiLibrary = ::dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
    int (*initialize)() = nullptr;
    SimulateContextFunction* simulateContext = nullptr;
    if (!agentLibrary || !cuptiLibrary || !find(simulateRecord, cuptiLibrary, "simulateRecord") ||
        !find(simulateDriverCall, cuptiLibrary, "simulateDriverCall") ||
        !find(simulateContext, cuptiLibrary, "simulateContext"))
        return 1;
    initialize = reinterpret_cast<int (*)()>(::dlsym(agentLibrary, "InitializeInjection"));
    if (!initialize) return 2;
    initialize();
    simulateContext();
    return 0;
}

/// Launches a kernel; answers the call's correlation.
EXPORT uint32_t launchHere() {
    const uint32_t correlation = ++lastCorrelation;
    simulateDriverCall(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, correlation, nullptr);
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = nowNs();
    kernel.end = kernel.start + 500;
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.correlationId = correlation;
    kernel.name = "simulated_kernel";
    kernel.gridX = kernel.gridY = kernel.gridZ = 1;
    simulateRecord(&kernel);
    return correlation;
}

/// The same `count` times from this line; answers nanoseconds of each.
EXPORT double launchRow(int count) {
    const uint64_t beginNs = nowNs();
    for (int i = 0; i < count; ++i)
        simulateDriverCall(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, ++lastCorrelation, nullptr);
    return static_cast<double>(nowNs() - beginNs) / count;
}
