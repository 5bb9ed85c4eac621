// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: lets Python programs launch kernels, by ctypes, on the GPU of the libcupti stand-in,
// with the agent loaded; capture and launch CUDA graphs there; and call NVTX.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>

#include <atomic>

#include "tests/capture/standin/SimulatedCupti.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

SimulateRecordFunction* simulateRecord = nullptr;
SimulateDriverCallFunction* simulateDriverCall = nullptr;
SimulateGraphNodeFunction* simulateGraphNode = nullptr;
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

uint32_t launch(CUpti_CallbackId call, uint64_t graphNode) {
    const uint32_t correlation = ++lastCorrelation;
    simulateDriverCall(call, correlation, nullptr);
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = nowNs();
    kernel.end = kernel.start + 500;
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.correlationId = correlation;
    kernel.graphNodeId = graphNode;
    kernel.name = "simulated_kernel";
    kernel.gridX = kernel.gridY = kernel.gridZ = 1;
    simulateRecord(&kernel);
    return correlation;
}

}  // namespace

/// Does the driver's part of cuInit and creates a first context. Returns 0 on success.
EXPORT int beginCuda(const char* agent, const char* cupti) {
    void* const agentLibrary = ::dlopen(agent, RTLD_NOW | RTLD_LOCAL);
    void* const cuptiLibrary = ::dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
    int (*initialize)() = nullptr;
    SimulateContextFunction* simulateContext = nullptr;
    if (!agentLibrary || !cuptiLibrary || !find(simulateRecord, cuptiLibrary, "simulateRecord") ||
        !find(simulateDriverCall, cuptiLibrary, "simulateDriverCall") ||
        !find(simulateGraphNode, cuptiLibrary, "simulateGraphNode") ||
        !find(simulateContext, cuptiLibrary, "simulateContext"))
        return 1;
    initialize = reinterpret_cast<int (*)()>(::dlsym(agentLibrary, "InitializeInjection"));
    if (!initialize) return 2;
    initialize();
    simulateContext();
    return 0;
}

/// Launches a kernel; returns the call's correlation.
EXPORT uint32_t launchHere() { return launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 0); }

/// Captures a node of a CUDA graph; copies one, as on instantiation; launches a graph of one such
/// node, and returns the call's correlation.
EXPORT void captureHere(uint64_t node) { simulateGraphNode(node, 0); }
EXPORT void copyNode(uint64_t node, uint64_t original) { simulateGraphNode(node, original); }
EXPORT uint32_t launchGraphHere(uint64_t node) { return launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, node); }

EXPORT void pushHere(const char* text) { nvtxRangePushA(text); }
EXPORT void popHere() { nvtxRangePop(); }
EXPORT void markHere(const char* text) { nvtxMarkA(text); }
EXPORT uint64_t startHere(const char* text) { return nvtxRangeStartA(text); }
EXPORT void endHere(uint64_t range) { nvtxRangeEnd(range); }
/// Pushes and pops `count` ranges from this line; returns nanoseconds per pair.
EXPORT double pushRow(int count) {
    const uint64_t beginNs = nowNs();
    for (int i = 0; i < count; ++i) {
        nvtxRangePushA("range");
        nvtxRangePop();
    }
    return static_cast<double>(nowNs() - beginNs) / count;
}

/// Launches `count` times from this line; returns nanoseconds per launch.
EXPORT double launchRow(int count) {
    const uint64_t beginNs = nowNs();
    for (int i = 0; i < count; ++i)
        simulateDriverCall(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, ++lastCorrelation, nullptr);
    return static_cast<double>(nowNs() - beginNs) / count;
}
