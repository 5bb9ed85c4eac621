// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/recordLayouts.h"

#include <cupti_activity_deprecated.h>

#include "capture/cupti/CuptiLibrary.h"

namespace lanescope::agent {

namespace {

struct Layout {
    CUpti_ActivityKind kind;
    uint32_t sinceVersion;
    uint16_t bytes;
};

constexpr uint32_t oldest = CuptiLibrary::version11_8;

// By kind, oldest first; the last whose version is there counts.
constexpr Layout layouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, oldest, sizeof(CUpti_ActivityKernel8)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CuptiLibrary::version12_0,
     sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_KERNEL, oldest, sizeof(CUpti_ActivityKernel8)},
    {CUPTI_ACTIVITY_KIND_KERNEL, CuptiLibrary::version12_0, sizeof(CUpti_ActivityKernel9)},
    {CUPTI_ACTIVITY_KIND_MEMCPY, oldest, sizeof(CUpti_ActivityMemcpy5)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, oldest, sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, oldest, sizeof(CUpti_ActivityMemset4)},
    {CUPTI_ACTIVITY_KIND_RUNTIME, oldest, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, oldest, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, oldest, sizeof(CUpti_ActivitySynchronization)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CuptiLibrary::version12_8,
     sizeof(CUpti_ActivitySynchronization2)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, oldest, sizeof(CUpti_ActivityCudaEvent)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CuptiLibrary::version12_8, sizeof(CUpti_ActivityCudaEvent2)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, oldest, sizeof(CUpti_ActivityOverhead)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLibrary::version12_2, sizeof(CUpti_ActivityOverhead2)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLibrary::version12_6, sizeof(CUpti_ActivityOverhead3)},
    {CUPTI_ACTIVITY_KIND_DEVICE, oldest, sizeof(CUpti_ActivityDevice4)},
    {CUPTI_ACTIVITY_KIND_CONTEXT, oldest, sizeof(CUpti_ActivityContext)},
    {CUPTI_ACTIVITY_KIND_STREAM, oldest, sizeof(CUpti_ActivityStream)},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, oldest, sizeof(CUpti_ActivityGraphTrace)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, oldest, sizeof(CUpti_ActivityMemory3)},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, oldest, sizeof(CUpti_ActivityMemoryPool2)},
    {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, oldest,
     sizeof(CUpti_ActivityUnifiedMemoryCounter2)},
};

// What these layouts rest on: the headers' structs are those of the versions above, and a newer
// struct begins like an older one.
static_assert(sizeof(CUpti_ActivityKernel8) == 200 && sizeof(CUpti_ActivityKernel9) == 208);
static_assert(offsetof(CUpti_ActivityKernel8, start) == offsetof(CUpti_ActivityKernel10, start));
static_assert(offsetof(CUpti_ActivityKernel8, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(CUpti_ActivityKernel8, graphNodeId) ==
              offsetof(CUpti_ActivityKernel10, graphNodeId));
static_assert(offsetof(CUpti_ActivityKernel8, clusterX) ==
              offsetof(CUpti_ActivityKernel10, clusterX));
static_assert(offsetof(CUpti_ActivityKernel9, localMemoryTotal_v2) ==
              offsetof(CUpti_ActivityKernel10, localMemoryTotal_v2));
static_assert(offsetof(CUpti_ActivityKernel8, localMemoryTotal_v2) ==
              offsetof(CUpti_ActivityKernel10, localMemoryTotal_v2));
static_assert(sizeof(CUpti_ActivityMemcpy5) == 88 && sizeof(CUpti_ActivityMemcpyPtoP4) == 96);
static_assert(offsetof(CUpti_ActivityMemcpy5, graphId) == offsetof(CUpti_ActivityMemcpy6, graphId));
static_assert(sizeof(CUpti_ActivityMemset4) == 88 && sizeof(CUpti_ActivityAPI) == 40);
static_assert(sizeof(CUpti_ActivitySynchronization) == 40 &&
              sizeof(CUpti_ActivitySynchronization2) == 56);
static_assert(offsetof(CUpti_ActivitySynchronization, cudaEventId) ==
              offsetof(CUpti_ActivitySynchronization2, cudaEventId));
static_assert(sizeof(CUpti_ActivityCudaEvent) == 24 && sizeof(CUpti_ActivityCudaEvent2) == 56);
static_assert(sizeof(CUpti_ActivityOverhead) == 40 && sizeof(CUpti_ActivityOverhead2) == 48 &&
              sizeof(CUpti_ActivityOverhead3) == 56);
static_assert(offsetof(CUpti_ActivityOverhead, end) == offsetof(CUpti_ActivityOverhead3, end));
static_assert(sizeof(CUpti_ActivityDevice4) == 176 && sizeof(CUpti_ActivityStream) == 24);
static_assert(offsetof(CUpti_ActivityDevice4, uuid) == offsetof(CUpti_ActivityDevice5, uuid));
static_assert(offsetof(CUpti_ActivityDevice4, name) == offsetof(CUpti_ActivityDevice5, name));
static_assert(sizeof(CUpti_ActivityContext) == 16);
static_assert(offsetof(CUpti_ActivityContext, nullStreamId) ==
              offsetof(CUpti_ActivityContext3, nullStreamId));
static_assert(offsetof(CUpti_ActivityGraphTrace, streamId) ==
              offsetof(CUpti_ActivityGraphTrace2, streamId));
static_assert(sizeof(CUpti_ActivityMemory3) == 120 && sizeof(CUpti_ActivityMemoryPool2) == 72);
static_assert(offsetof(CUpti_ActivityMemory3, memoryPoolConfig) ==
              offsetof(CUpti_ActivityMemory4, memoryPoolConfig));
static_assert(offsetof(CUpti_ActivityMemoryPool2, utilizedSize) ==
              offsetof(CUpti_ActivityMemoryPool3, utilizedSize));
static_assert(sizeof(CUpti_ActivityUnifiedMemoryCounter2) == 64);
static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter2, flags) ==
              offsetof(CUpti_ActivityUnifiedMemoryCounter3, flags));

}  // namespace

size_t knownRecordBytes(CUpti_ActivityKind kind, uint32_t version) {
    size_t bytes = 0;
    for (const Layout& layout : layouts) {
        if (layout.kind == kind && layout.sinceVersion <= version) bytes = layout.bytes;
    }
    return bytes;
}

}  // namespace lanescope::agent
