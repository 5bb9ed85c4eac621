// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Returns true if a pass over rows must end early. Checks the token at few rows only, so it is
/// cheap at each row. The results of a stopped pass are invalid.
inline bool isStopped(const std::stop_token& stop, size_t row) {
    constexpr size_t rowsPerCheck = 4096;
    return row % rowsPerCheck == 0 && stop.stop_requested();
}

using Tasks = std::vector<std::function<void()>>;

/// Returns the cores of the machine, at most 4: memory grows with the threads of a task.
unsigned defaultThreads();

/// Runs independent tasks on that many threads, including this one, started in order. Returns when
/// all have ended. Rethrows the first exception; tasks not started by then are skipped.
void runTasks(unsigned threads, const Tasks& tasks);

/// Returns true for Lanescope's own threads in a recorded process. Their cost is in the warnings of the trace.
inline bool isAgentThread(const Thread& thread) {
    constexpr std::string_view ownPrefix = "lanescope-";
    return thread.name.starts_with(ownPrefix);
}

/// Returns the command line of the run, or of its first process with one if the run has none.
std::string commandLineOf(const Trace& trace);

/// Returns the error bound of the clock of a process's file relative to the first file, in
/// nanoseconds; 0 if unknown, and for processes of the first file.
int64_t clockErrorNs(const Process& process);

/// Returns the parent of each process as an index into `Trace::processes`; `noIndex` if unknown or not in the trace.
/// Loader workers are children of their rank's process. O(processes log processes).
std::vector<uint32_t> parentProcesses(const Trace& trace);

/// Returns the rank that each process works for: its own, or that of the nearest ancestor with a rank.
std::vector<std::optional<int>> ranksServed(const Trace& trace);

/// GPUs that each process works on: those with at least a hundredth of the stream time of its most used GPU. On other
/// GPUs a process has only a context, or exchanges a few bytes at start-up. Immutable; any thread.
///
/// Real machines have at most `maxGpus`. A file may state more, and the calls of a process are scanned for each of its
/// GPUs, so only its most used ones are kept then.
class GpusOfProcesses {
  public:
    /// O(streams), independent of events.
    explicit GpusOfProcesses(const Trace& trace);

    static constexpr size_t maxGpus = 256;

    /// Returns sorted indices into `Trace::gpus`; empty for an invalid process.
    const std::vector<uint32_t>& of(uint32_t process) const { return process < gpus_.size() ? gpus_[process] : none_; }
    /// Returns the number of GPUs it works on, including those beyond `maxGpus`.
    size_t countOf(uint32_t process) const { return process < counts_.size() ? counts_[process] : 0; }

  private:
    std::vector<std::vector<uint32_t>> gpus_;  ///< One list per process.
    std::vector<size_t> counts_;
    std::vector<uint32_t> none_;
};

}  // namespace lanescope
