// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/build/TraceBuilder.h"
#include "model/load/inspector/giveOperations.h"

namespace lanescope {

/// A trace while what logs of NCCL Inspector say beside it is put into it.
class InspectorJoin {
  public:
    /// The trace stays as long as this.
    explicit InspectorJoin(const Trace& trace);

    /// Takes what a log says of one of its processes, which is that process of the trace.
    void add(const Trace& log, uint32_t ofLog, uint32_t process);
    /// The trace with all of it; null once `stop` is requested.
    TracePtr finish(unsigned threads, const std::stop_token& stop);

  private:
    /// A moment of the trace that an operation may be, and its row there.
    using Moments = std::vector<std::pair<int64_t, uint32_t>>;
    using Key = std::tuple<uint64_t, StringIndex, int64_t>;

    std::vector<SeenOperation> operationsOf(const Trace& log, uint32_t process, int64_t shiftNs);
    std::vector<uint32_t> callsOf(uint32_t process) const;
    /// How many operations were found.
    size_t amendCalls(const std::vector<uint32_t>& calls, const std::vector<SeenOperation>& seen,
                      bool areTimesKnown);
    void amend(uint32_t row, const SeenOperation& seen);
    /// Each with the call that launched its kernel, where the trace has that.
    size_t findKernels(const Moments& kernels, std::vector<SeenOperation>& seen, uint32_t process);
    uint32_t gpuOf(uint32_t process);
    void give(uint32_t process, const std::vector<SeenOperation>& seen, bool hasKernels);

    const Trace& trace_;
    TraceBuilder builder_;
    std::optional<OperationGiver> giver_;
    std::map<std::string_view, int64_t> added_;  ///< By the name of a count.
    std::set<uint32_t> taken_;                   ///< Calls that an operation was found to be.
};

}  // namespace lanescope
