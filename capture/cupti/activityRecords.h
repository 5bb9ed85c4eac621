// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>
#include <cupti_activity_deprecated.h>

#include <cstddef>
#include <cstdint>

#include "capture/log/Records.h"

namespace lanescope::agent {

/// Returns the minimum size, in bytes, of a record of `kind` in the CUPTI of `version`, as far as the agent can read
/// it. Returns 0 for kinds that the agent does not read. The layout is that of the loaded library, not that of the
/// headers. Records only grow at their end, so an older one lacks the last fields of a newer one.
size_t knownRecordBytes(CUpti_ActivityKind kind, uint32_t version);

// Conversion of CUPTI's records to log records. Pure functions; the caller sets names, which are
// numbers in the log. Each function takes the struct that has all the fields it reads.

log::KernelRecord toLog(const CUpti_ActivityKernel9& from);
log::MemcpyRecord toLog(const CUpti_ActivityMemcpy5& from);
log::MemcpyRecord toLog(const CUpti_ActivityMemcpyPtoP4& from);
log::MemsetRecord toLog(const CUpti_ActivityMemset4& from);
log::GraphRecord toLog(const CUpti_ActivityGraphTrace& from);
log::ApiRecord toLog(const CUpti_ActivityAPI& from);
log::OverheadRecord toLog(const CUpti_ActivityOverhead3& from);
log::DeviceMemoryRecord toLog(const CUpti_ActivityMemory3& from);
log::MemoryPoolRecord toLog(const CUpti_ActivityMemoryPool2& from);
log::UnifiedMemoryRecord toLog(const CUpti_ActivityUnifiedMemoryCounter2& from);
log::DeviceRecord toLog(const CUpti_ActivityDevice4& from);
log::ContextRecord toLog(const CUpti_ActivityContext& from);
log::StreamRecord toLog(const CUpti_ActivityStream& from);
/// `hasSyncIds`: the library is 12.8 or newer.
log::SyncRecord toLog(const CUpti_ActivitySynchronization2& from, bool hasSyncIds);
log::CudaEventRecord toLog(const CUpti_ActivityCudaEvent2& from, bool hasSyncIds);

}  // namespace lanescope::agent
