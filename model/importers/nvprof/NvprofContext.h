// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/importers/sqlite/LoadContext.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// The shared state of the readers of one nvprof file: its texts, its only process, its threads, and its start.
class NvprofContext {
  public:
    explicit NvprofContext(LoadContext& context);

    LoadContext& load() { return context_; }
    TraceBuilder& builder() { return context_.builder(); }
    /// Returns a time of the file on the clock of the trace, which begins with the first event.
    TimeRange shifted(TimeRange times) const { return {times.startNs - zeroNs_, times.endNs - zeroNs_}; }
    int64_t zeroNs() const { return zeroNs_; }

    /// Returns the text of that number, or 0: as stored, or demangled as the name of a function.
    StringIndex text(int64_t number) const;
    StringIndex functionName(int64_t number);

    uint32_t process();
    /// Returns the thread. nvprof stores the low half of a system's thread handle.
    uint32_t thread(int64_t number);
    /// Returns the stream, or `noIndex` for a whole context.
    uint32_t stream(int64_t device, int64_t contextId, int64_t streamId);
    /// Returns the device of a context; 0 if unknown.
    int64_t deviceOf(int64_t contextId) const;

  private:
    void readTexts();
    void readProcess();
    void readContexts();
    void findZero();

    LoadContext& context_;
    MixedMap<int64_t, StringIndex> texts_, functions_;
    MixedMap<int64_t, uint32_t> threads_;
    MixedMap<int64_t, std::pair<int64_t, int64_t>> contexts_;  ///< Device and null stream.
    int64_t processId_ = 0;
    int64_t zeroNs_ = 0;
};

// Each function adds the contents of some tables of an nvprof file to the builder and counts them. O(rows).

void readNvprofDevices(NvprofContext& context);
void readNvprofCalls(NvprofContext& context);
/// Reads kernels, copies and memsets.
void readNvprofWork(NvprofContext& context);
void readNvprofWaits(NvprofContext& context);
void readNvprofMarkers(NvprofContext& context);
void readNvprofOverhead(NvprofContext& context);

}  // namespace lanescope
