// SPDX-License-Identifier: Apache-2.0
//
// NVTX for Python. A separate library, because it is loaded into the training: it needs only the C
// library and is loaded only if a tool listens. NVTX's headers load this tool, named by
// NVTX_INJECTION64_PATH, at the first call.

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

namespace {

nvtxEventAttributes_t attributesOf(uint32_t category, const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = category;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    return attributes;
}

}  // namespace

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// Increase it whenever a function below changes.
LANESCOPE_EXPORT int lanescopeMarksAbi() { return 2; }

/// Begins a range on this thread, within the ranges open there. Names are UTF-8.
LANESCOPE_EXPORT void lanescopePush(const char* name) { nvtxRangePushA(name); }
/// Names a category of ranges, by a number from 1.
LANESCOPE_EXPORT void lanescopeCategory(uint32_t category, const char* name) { nvtxNameCategoryA(category, name); }
/// Begin ranges of a category.
LANESCOPE_EXPORT void lanescopePushIn(uint32_t category, const char* name) {
    const nvtxEventAttributes_t range = attributesOf(category, name);
    nvtxRangePushEx(&range);
}
LANESCOPE_EXPORT uint64_t lanescopeStartIn(uint32_t category, const char* name) {
    const nvtxEventAttributes_t range = attributesOf(category, name);
    return nvtxRangeStartEx(&range);
}
/// Ends the range that this thread began last.
LANESCOPE_EXPORT void lanescopePop() { nvtxRangePop(); }
/// Begins a range that any thread may end, independent of other ranges.
LANESCOPE_EXPORT uint64_t lanescopeStart(const char* name) { return nvtxRangeStartA(name); }
LANESCOPE_EXPORT void lanescopeEnd(uint64_t range) { nvtxRangeEnd(range); }
/// Marks a time on this thread.
LANESCOPE_EXPORT void lanescopeMark(const char* name) { nvtxMarkA(name); }
