// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>
#include <cupti_activity_deprecated.h>

#include <cstddef>
#include <cstdint>

#include "capture/log/Records.h"

namespace lanescope::agent {

/// How many bytes a record of `kind` has, at least, in the CUPTI of `version`, as far as we know
/// how to read them. The layout is that of the loaded library, not that of the headers; records
/// only ever grow at their end, so what is missing from an older one are the last fields of a
/// newer. 0 for kinds that we do not read.
size_t knownRecordBytes(CUpti_ActivityKind kind, uint32_t version);

// CUPTI's records as records of the log. Pure functions; names, which are numbers in the log, are
// left to the caller. Each takes the struct that has all the fields we read.

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
