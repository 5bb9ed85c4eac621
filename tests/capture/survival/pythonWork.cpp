// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: replaces PyTorch in survivor.py where it is not installed.

#include <nvtx3/nvToolsExt.h>

#include <string>

#include "tests/workloads/survive/gpuWork.h"

#define FOR_PYTHON extern "C" __attribute__((visibility("default")))

FOR_PYTHON void survivorBegin();
FOR_PYTHON void survivorStep(int step);
FOR_PYTHON void survivorRange(const char* name);

void survivorBegin() { lanescope::survive::beginGpu(); }

void survivorStep(int step) {
    nvtxRangePushA(("step " + std::to_string(step)).c_str());
    lanescope::survive::runKernels(step);
    nvtxRangePop();
}

void survivorRange(const char* name) {
    nvtxRangePushA(name);
    nvtxRangePop();
}
