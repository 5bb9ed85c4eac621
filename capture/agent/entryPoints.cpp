// SPDX-License-Identifier: Apache-2.0
//
// Entry points of this library that the driver and NVTX look up by name. Nothing else is exported.

#include <cstdint>

#include "capture/agent/Agent.h"
#include "capture/agent/nvtxCallbacks.h"

using lanescope::agent::Agent;

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// Starts the agent. The CUDA driver calls this in cuInit if CUDA_INJECTION64_PATH names this
/// library. Always returns 1: the program continues whether or not it can be recorded.
LANESCOPE_EXPORT int InitializeInjection() {
    try {
        if (Agent* agent = Agent::current()) agent->startCuda(lanescope::agent::makeActivitySource);
    } catch (...) {
    }
    return 1;
}

/// Attaches the agent to NVTX. NVTX calls this once per shared object that uses it if
/// NVTX_INJECTION64_PATH names this library.
LANESCOPE_EXPORT int InitializeInjectionNvtx2(const void* (*getExportTable)(uint32_t)) {
    try {
        Agent* const agent = Agent::current();
        // NVTX has just waited for the loader, to load this library.
        if (agent) agent->searchForPython();
        return agent && lanescope::agent::attachNvtx(getExportTable);
    } catch (...) {
        return 0;
    }
}

/// Attaches the agent to NVTX extensions, such as the payload extension.
LANESCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
    try {
        return Agent::current() && lanescope::agent::attachNvtxExtension(module);
    } catch (...) {
        return 0;
    }
}

/// Turns Python stacks of this process off (`isOn` 0) or on again, so that one run can measure the cost of stacks.
/// Returns 0 if calls have no stacks anyway. For measurements only; costs calls nothing. Any thread.
LANESCOPE_EXPORT int lanescopeStacks(int isOn) {
    Agent* const agent = Agent::existing();
    return agent && agent->stacks().pause(isOn == 0);
}
