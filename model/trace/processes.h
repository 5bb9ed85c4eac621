// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// What a merged trace calls, among the facts of a process, within how many nanoseconds the clock
/// of its file is known by that of the first.
inline constexpr std::string_view clockErrorFact = "clock.errorNs";

/// That of a process; 0 where nothing is told, as of a process whose clock is the first.
int64_t clockErrorNs(const Process& process);

/// Which process started each, as an index into `Trace::processes`; `noIndex` where that is not
/// known, or where the trace does not have it. Loader workers are started by their rank's process.
/// O(processes log processes).
std::vector<uint32_t> startedBy(const Trace& trace);

/// The rank that each process works for: its own, or that of the nearest who started it and has
/// one.
std::vector<std::optional<int>> ranksServed(const Trace& trace);

/// The GPUs that each process works on: those on whose streams it spends at least a hundredth of
/// what it spends on the one that it uses most. On others it has a context, or exchanges a few
/// bytes at start-up. Immutable; any thread.
///
/// No machine has more than `mostGpus`; a file may say so all the same, and as the calls of a
/// process are looked at for each of its GPUs, of such a one those count that it uses most.
class GpusOfProcesses {
  public:
    /// O(streams), whatever they hold.
    explicit GpusOfProcesses(const Trace& trace);

    static constexpr size_t mostGpus = 256;

    /// As indices into `Trace::gpus`, in their order; none of a process that there is not.
    const std::vector<uint32_t>& of(uint32_t process) const {
        return process < gpus_.size() ? gpus_[process] : none_;
    }
    /// How many GPUs it works on, also those beyond `mostGpus`.
    size_t countOf(uint32_t process) const {
        return process < counts_.size() ? counts_[process] : 0;
    }

  private:
    std::vector<std::vector<uint32_t>> gpus_;  ///< By process.
    std::vector<size_t> counts_;
    std::vector<uint32_t> none_;
};

}  // namespace lanescope
