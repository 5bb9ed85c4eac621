// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// NVTX's own types, named here so that only nvtxCallbacks.cpp needs NVTX's headers.
extern "C" {
struct nvtxExtModuleInfo_t;
}

namespace lanescope::agent {

/// Puts the agent's functions into the tables of one shared object that uses NVTX. `getExportTable`
/// is an `NvtxGetExportTableFunc_t`. Answers whether it could. Safe to call again and from any
/// thread.
bool attachNvtx(const void* (*getExportTable)(uint32_t));
/// The same for an extension; only the payload extension is known. Answers whether it is that one.
bool attachNvtxExtension(nvtxExtModuleInfo_t* module);

}  // namespace lanescope::agent
