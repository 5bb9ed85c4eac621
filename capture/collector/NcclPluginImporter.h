// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "capture/collector/NcclAssembler.h"
#include "capture/collector/ProcessContext.h"

namespace lanescope::capture {

/// Writes what NCCL told its profiler plugin in one process: its communicators and operations. One
/// thread.
class NcclPluginImporter {
  public:
    explicit NcclPluginImporter(ProcessContext& process);

    void add(const log::NcclCommunicatorRecord& record);
    void add(const log::NcclOperationRecord& record) { assembler_.add(record); }
    void add(const log::NcclStopRecord& record) { assembler_.add(record); }
    /// Writes operations that are still open.
    void finish();

    int64_t operations() const { return operations_; }

  private:
    void write(const NcclOperation& operation);

    ProcessContext& process_;
    NcclAssembler assembler_;
    std::set<std::pair<uint64_t, int32_t>> communicators_;  // hash and rank
    int64_t operations_ = 0;
    std::optional<uint32_t> interfaceVersion_;
};

/// Bytes of an element by NCCL's name of its type ("ncclFloat32"); 0 for a type we do not know.
int64_t ncclDatatypeBytes(std::string_view name);
/// "float32" for "ncclFloat32"; other names stay as they are.
std::string ncclDatatypeName(std::string_view name);

}  // namespace lanescope::capture
