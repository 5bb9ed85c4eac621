// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// NVTX's own types, declared here so that only nvtxCallbacks.cpp needs NVTX's headers.
extern "C" {
struct nvtxExtModuleInfo_t;
}

namespace lanescope::agent {

/// Puts the agent's functions into the tables of one shared object that uses NVTX. `getExportTable`
/// is an `NvtxGetExportTableFunc_t`. Returns true on success. Repeatable, any thread.
bool attachNvtx(const void* (*getExportTable)(uint32_t));
/// Attaches an extension. Returns true if it is the payload extension, the only supported one.
bool attachNvtxExtension(nvtxExtModuleInfo_t* module);

}  // namespace lanescope::agent
