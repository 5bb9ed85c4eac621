// What the driver and NVTX look up by name in this library; nothing else is visible outside.

#include <cstdint>

#include "capture/agent/Agent.h"
#include "capture/agent/nvtxCallbacks.h"

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// The CUDA driver calls this in cuInit when CUDA_INJECTION64_PATH names this library. Answers 1
/// always: the program goes on whether or not it can be recorded.
LANESCOPE_EXPORT int InitializeInjection() {
    try {
        if (lanescope::Agent* agent = lanescope::Agent::current()) agent->startCuda();
    } catch (...) {
    }
    return 1;
}

/// NVTX calls this once for each shared object that uses it when NVTX_INJECTION64_PATH names this
/// library.
LANESCOPE_EXPORT int InitializeInjectionNvtx2(const void* (*getExportTable)(uint32_t)) {
    try {
        return lanescope::Agent::current() && lanescope::attachNvtx(getExportTable);
    } catch (...) {
        return 0;
    }
}

/// The same for NVTX extensions, such as the one for payloads.
LANESCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
    try {
        return lanescope::Agent::current() && lanescope::attachNvtxExtension(module);
    } catch (...) {
        return 0;
    }
}
