// SPDX-License-Identifier: Apache-2.0
// NVTX for Python. A library of its own, as it is loaded into the training: it needs the C library
// alone, and is loaded only where a tool listens. NVTX's headers load that tool, which
// NVTX_INJECTION64_PATH names, at the first call.

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// Raised whenever a function below changes.
LANESCOPE_EXPORT int lanescopeMarksAbi() {
    return 1;
}

/// Begins a range on this thread, within those that are open there. Names are UTF-8.
LANESCOPE_EXPORT void lanescopePush(const char* name) {
    nvtxRangePushA(name);
}
/// Ends the range that this thread began last.
LANESCOPE_EXPORT void lanescopePop() {
    nvtxRangePop();
}
/// Begins a range that any thread may end, whatever else is open.
LANESCOPE_EXPORT uint64_t lanescopeStart(const char* name) {
    return nvtxRangeStartA(name);
}
LANESCOPE_EXPORT void lanescopeEnd(uint64_t range) {
    nvtxRangeEnd(range);
}
/// A moment on this thread.
LANESCOPE_EXPORT void lanescopeMark(const char* name) {
    nvtxMarkA(name);
}
