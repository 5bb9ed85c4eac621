// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "capture/log/Records.h"
#include "capture/log/StackRecords.h"
#include "capture/log/ThreadRecords.h"

namespace lanescope::log {

/// Receives the records of a log in order. References and views live until the call returns.
/// Numbers in them are as the traced process wrote them: a receiver checks what it uses as an index
/// or enum.
class RecordVisitor {
  public:
    virtual ~RecordVisitor() = default;

    virtual void visit(const StringRecord&, std::string_view) {}
    virtual void visit(const PropertyRecord&) {}
    virtual void visit(const KernelRecord&) {}
    virtual void visit(const MemcpyRecord&) {}
    virtual void visit(const MemsetRecord&) {}
    virtual void visit(const ApiRecord&) {}
    virtual void visit(const StackRecord&) {}
    virtual void visit(const GraphNodeRecord&) {}
    virtual void visit(const SyncRecord&) {}
    virtual void visit(const CudaEventRecord&) {}
    virtual void visit(const OverheadRecord&) {}
    virtual void visit(const DeviceRecord&) {}
    virtual void visit(const ContextRecord&) {}
    virtual void visit(const StreamRecord&) {}
    virtual void visit(const GraphRecord&) {}
    virtual void visit(const DeviceMemoryRecord&) {}
    virtual void visit(const MemoryPoolRecord&) {}
    virtual void visit(const UnifiedMemoryRecord&) {}
    virtual void visit(const NvtxRecord&, std::span<const std::byte>) {}
    virtual void visit(const NvtxDomainRecord&) {}
    virtual void visit(const NvtxCategoryRecord&) {}
    virtual void visit(const NvtxSchemaRecord&) {}
    virtual void visit(const NvtxSchemaEntryRecord&) {}
    virtual void visit(const NvtxEnumRecord&) {}
    virtual void visit(const NvtxEnumEntryRecord&) {}
    virtual void visit(const NcclCommunicatorRecord&) {}
    virtual void visit(const NcclOperationRecord&) {}
    virtual void visit(const NcclStopRecord&) {}
    virtual void visit(const ThreadNameRecord&) {}
    virtual void visit(const ClockRecord&) {}
    virtual void visit(const DroppedRecord&) {}
    virtual void visit(const NoteRecord&) {}
    virtual void visit(const EndRecord&) {}
    virtual void visit(const WindowRecord&) {}
    virtual void visit(const SampledGpuRecord&) {}
    virtual void visit(const CounterRecord&) {}
    virtual void visit(const SamplesRecord&, std::span<const SampleValue>) {}
    virtual void visit(const GpuProcessRecord&) {}
    virtual void visit(const SamplingMomentRecord&) {}
    virtual void visit(const GpuMetricRecord&) {}
    virtual void visit(const WatchedProcessRecord&) {}
    virtual void visit(const WatchedThreadRecord&) {}
    virtual void visit(const ThreadRunRecord&) {}
    /// The moments as they lie in the log: `1 + metricCount` words each.
    virtual void visit(const GpuMetricSamplesRecord&, std::span<const uint64_t>) {}
};

}  // namespace lanescope::log
