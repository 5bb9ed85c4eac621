// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/build/TraceBuilder.h"
#include "model/load/inspector/giveOperations.h"

namespace lanescope {

/// A log of NCCL Inspector, and what people call its file.
struct NamedLog {
    const Trace& trace;
    const std::string& name;
};

/// Operations of a log that are in a trace by the log alone.
struct TakenOperations {
    int64_t kernels = 0;        ///< That have a kernel by the log, too.
    int64_t atWriting = 0;      ///< Whose times are made of when they were written down.
    int64_t withoutKernel = 0;  ///< Of whose kernel the log knows nothing.
};

/// A trace while what logs of NCCL Inspector say beside it is put into it.
class InspectorJoin {
  public:
    /// The trace stays as long as this. Its notes say from now on that they are of the file of that
    /// name.
    InspectorJoin(const Trace& trace, const std::string& name);

    /// Takes what a log says of one of its processes, which is that process of the trace, and
    /// counts what is of the log alone.
    void add(const NamedLog& log, uint32_t ofLog, uint32_t process, TakenOperations& taken);
    /// Takes what the log's health says of the log as a whole, and of those of its operations that
    /// were taken; what it says of a process `add` takes.
    void addNotes(const NamedLog& log, const TakenOperations& taken);
    /// The trace with all of it; null once `stop` is requested.
    TracePtr finish(unsigned threads, const std::stop_token& stop);

  private:
    /// A moment of the trace that an operation may be, and its row there.
    using Moments = std::vector<std::pair<int64_t, uint32_t>>;
    using Key = std::tuple<uint64_t, StringIndex, int64_t>;

    /// From times of the log to those of the trace; 0 if one does not say when it began.
    int64_t shiftOf(const Trace& log) const;
    void addNote(HealthNote note, const NamedLog& log, std::optional<int64_t> globalPid);
    std::vector<SeenOperation> operationsOf(const Trace& log, uint32_t process, int64_t shiftNs);
    std::vector<uint32_t> callsOf(uint32_t process) const;
    /// How many operations were found.
    size_t amendCalls(const std::vector<uint32_t>& calls, const std::vector<SeenOperation>& seen,
                      bool areTimesKnown);
    void amend(uint32_t row, const SeenOperation& seen);
    /// Each with the call that launched its kernel, where the trace has that.
    size_t findKernels(const Moments& kernels, std::vector<SeenOperation>& seen, uint32_t process);
    uint32_t gpuOf(uint32_t process);
    void give(uint32_t process, const std::vector<SeenOperation>& seen, bool hasKernels,
              TakenOperations& taken);

    const Trace& trace_;
    TraceBuilder builder_;
    std::optional<OperationGiver> giver_;
    std::map<std::string_view, int64_t> added_;  ///< By the name of a count.
    std::set<uint32_t> taken_;                   ///< Calls that an operation was found to be.
};

}  // namespace lanescope
