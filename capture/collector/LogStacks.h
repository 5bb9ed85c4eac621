// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "capture/collector/LogStrings.h"
#include "capture/collector/TraceWriter.h"
#include "capture/log/StackRecords.h"

namespace lanescope::capture {

/// The Python stacks of one log by their number in it.
class LogStacks {
  public:
    explicit LogStacks(TraceWriter& trace) : trace_(trace) {}

    /// Takes a stack, whose names are among `strings`. A log may say it again.
    void add(const log::StackRecord& record, LogStrings& strings);
    /// Its id in `LANESCOPE_STACKS`; nothing for 0 and for one that was lost.
    std::optional<int64_t> traceId(uint32_t stack) const;

  private:
    TraceWriter& trace_;
    std::unordered_map<uint32_t, int64_t> ids_;
};

}  // namespace lanescope::capture
