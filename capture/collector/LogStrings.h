// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/collector/TraceWriter.h"

namespace lanescope::capture {

/// The strings of one log by their number in it. Only those an event uses get into the trace.
class LogStrings {
  public:
    explicit LogStrings(TraceWriter& trace) : trace_(trace) {}

    /// The ids in the trace of the three names of a kernel.
    struct KernelNames {
        int64_t mangled, demangled, brief;
    };

    void add(uint32_t id, std::string_view text) { strings_[id] = {std::string(text), 0}; }
    /// The text; empty for 0 and for one that was lost. Valid until the next `add`.
    std::string_view text(uint32_t id) const;
    /// Its id in the trace; a lost text becomes "[name lost]".
    int64_t traceId(uint32_t id);
    KernelNames kernelNames(uint32_t id);

  private:
    struct Entry {
        std::string text;
        int64_t traceId = 0;
    };

    TraceWriter& trace_;
    std::unordered_map<uint32_t, Entry> strings_;
    std::unordered_map<uint32_t, KernelNames> kernels_;
};

}  // namespace lanescope::capture
