// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/importers/sqlite/LoadContext.h"
#include "model/numbers/MixedMap.h"

namespace lanescope {

/// What the readers of one nvprof file share: its texts, its one process and its threads, and the
/// time at which it begins.
class NvprofContext {
  public:
    explicit NvprofContext(LoadContext& context);

    LoadContext& load() { return context_; }
    TraceBuilder& builder() { return context_.builder(); }
    /// A time of the file on the clock of the trace, which begins with the first event.
    TimeRange shifted(TimeRange times) const {
        return {times.startNs - zeroNs_, times.endNs - zeroNs_};
    }
    int64_t zeroNs() const { return zeroNs_; }

    /// The text of that number; 0 for none. As it stands, or as the name of a function.
    StringIndex text(int64_t number) const;
    StringIndex functionName(int64_t number);

    uint32_t process();
    /// nvprof keeps the low half of what the system's threads call themselves.
    uint32_t thread(int64_t number);
    /// `noIndex` for a whole context.
    uint32_t stream(int64_t device, int64_t contextId, int64_t streamId);
    /// The device of a context; 0 where the file does not say.
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

// Each gives the builder what some tables of an nvprof file hold, and counts it. Linear in the
// rows.

void readNvprofDevices(NvprofContext& context);
void readNvprofCalls(NvprofContext& context);
/// Kernels, copies and memsets.
void readNvprofWork(NvprofContext& context);
void readNvprofWaits(NvprofContext& context);
/// Ranges and marks of NVTX.
void readNvprofMarkers(NvprofContext& context);
void readNvprofOverhead(NvprofContext& context);

}  // namespace lanescope
