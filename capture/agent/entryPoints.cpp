// SPDX-License-Identifier: Apache-2.0
// What the driver and NVTX look up by name in this library; nothing else is visible outside.

#include <cstdint>

#include "capture/agent/Agent.h"
#include "capture/agent/nvtxCallbacks.h"

using lanescope::agent::Agent;

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// The CUDA driver calls this in cuInit when CUDA_INJECTION64_PATH names this library. Answers 1
/// always: the program goes on whether or not it can be recorded.
LANESCOPE_EXPORT int InitializeInjection() {
    try {
        if (Agent* agent = Agent::current()) agent->startCuda(lanescope::agent::makeActivitySource);
    } catch (...) {
    }
    return 1;
}

/// NVTX calls this once for each shared object that uses it when NVTX_INJECTION64_PATH names this
/// library.
LANESCOPE_EXPORT int InitializeInjectionNvtx2(const void* (*getExportTable)(uint32_t)) {
    try {
        Agent* const agent = Agent::current();
        // NVTX has just waited for the loader, to load this library.
        if (agent) agent->lookForPython();
        return agent && lanescope::agent::attachNvtx(getExportTable);
    } catch (...) {
        return 0;
    }
}

/// The same for NVTX extensions, such as the one for payloads.
LANESCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
    try {
        return Agent::current() && lanescope::agent::attachNvtxExtension(module);
    } catch (...) {
        return 0;
    }
}

/// For measurements: leaves the calls of this process without Python stacks from now on
/// (`isOn` 0), or no longer, so that one run tells what stacks cost. Answers 0 where calls have
/// none anyway. Nothing of ours calls it, and a call pays nothing for it. Any thread.
LANESCOPE_EXPORT int lanescopeStacks(int isOn) {
    Agent* const agent = Agent::existing();
    return agent && agent->stacks().pause(isOn == 0);
}
