// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::explain {

/// Minimum slowdown against a GPU's highest clock while throttled. NVML reports steps of 15 MHz; they vary at work.
inline constexpr double minClockLoss = 0.03;

/// Slowdown of a GPU in the steps of a worker because its clocks were throttled.
struct ClockLoss {
    uint64_t reasons = 0;   ///< The causes, of `throttleReasons`.
    double heldShare = 0;   ///< Throttled share of the time of the steps.
    int64_t smClockHz = 0;  ///< Mean while throttled.
    int64_t highestHz = 0;  ///< Highest clock of that GPU in the whole run.
    /// Mean of the other GPUs of that name in their steps; 0 without any.
    int64_t othersHz = 0;
    /// Share of the steps lost against the higher of these clocks: an estimate, for work in proportion to the clock.
    double lostShare = 0;
    /// The longest time in the steps with the same reasons; empty if unknown.
    TimeRange longest;

    /// Returns the reference clock.
    int64_t referenceHz() const { return highestHz > othersHz ? highestHz : othersHz; }
};

/// Returns the clock loss of a worker. Nullopt if reasons or clocks were not recorded, or if none slowed the GPU by
/// `minClockLoss`. The power cap alone does not count: a GPU that works hard reaches it. O(workers * reasons).
std::optional<ClockLoss> clockLossOf(const analysis::RunSummary& run, uint32_t worker);

/// Returns "rank 1, GPU 1 has its clocks held down for 84.0 % of the time of the steps ...", for a
/// cost of `time`, "3.100 ms of a step (4.2 %)".
std::string clockSentence(const analysis::RunSummary& run, uint32_t worker, const std::string& time);

/// Returns how far the clocks of a worker's GPU are below the highest seen because of its power cap, which is no fault;
/// empty if it is not there, or if the difference is below `minClockLoss`.
std::string powerCapSentence(const analysis::RunSummary& run, uint32_t worker);
/// Returns the share of the time of the steps that the power cap costs, estimated as in `ClockLoss`; 0 if unknown.
double powerCapShare(const analysis::RunSummary& run, uint32_t worker);

/// Returns " Meanwhile a limit of 2 cores held its processes back ...", and how threads lacked
/// cores, with a leading space; empty if there was nothing, or if it was not recorded.
std::string coresSentence(const analysis::RunSummary& run, uint32_t worker);

/// Returns true for idle time in which the launching thread was seen not to run. Fewer launches would not help then.
bool isHostWaiting(const analysis::Contributor& each);
/// Returns the launch-bound time in which an alternating thread was proved not to run, except time with an own finding.
int64_t provedWaitNs(const analysis::Contributor& each);
/// Returns the part of launch-bound time in which no thread waited, as far as known. It may be work
/// (`Contributor::workedNs`); the rest is the way from launch to launch.
int64_t ranNs(const analysis::Contributor& each);

/// Returns true for idle time in which the launching thread compiled code or waited for what compiles it.
bool isCompilation(const analysis::Contributor& each);
/// Returns " jit_step was compiled 3 times ..." with the likely reason; empty if none was compiled again.
std::string recompiledSentence(const analysis::WorkerSummary& worker);

/// Returns the launch-bound time of waits for the GIL of a thread without launches, as samples suggest.
int64_t gilWaitNs(const analysis::Contributor& each);

/// Returns the contributor with most time of all at the line with most time by `nsOf`. Idle time without a line is one
/// of its own. Null if none has time.
const analysis::Contributor* mainOfLine(const analysis::WorkerSummary& worker,
                                        const std::function<int64_t(const analysis::Contributor&)>& nsOf);

/// Returns true for idle time in which the CPU allocated or freed memory.
bool isAllocation(const analysis::Contributor& each);
/// Returns true for idle time in a synchronous copy call.
bool isSynchronousCopy(const analysis::Contributor& each);
/// Returns true for idle time in a synchronous memset call.
bool isSynchronousMemset(const analysis::Contributor& each);
/// Returns true for a copy of memory that is not pinned, or idle time in its call.
bool isPageable(const analysis::Contributor& each);
/// Returns true for idle time in a call that should return at once, but blocks because the copied memory is not pinned.
bool isInPageableCopy(const analysis::Contributor& each);

/// Share of a step, or of a reported part of one, below which nothing is mentioned.
inline constexpr double minReportedShare = 0.03;

/// Returns "The GPU waits 14 ms of a step (42 %) for the next batch: mostly ...", and the guessed
/// part of it, for which only the following work is evidence that the CPU was getting data. `mostly` ends a sentence.
std::string inputDataSentence(const analysis::WorkerSummary& worker, const std::string& time,
                              const std::string& mostly);

/// Returns the guessed share of that time, as far as its cause is known.
double guessedDataShare(const analysis::WorkerSummary& worker);
/// Guessed share of that time from which it is called a guess as a whole, and from which nothing else is reported.
inline constexpr double minGuessedShare = 0.5, minAllGuessedShare = 0.9;

/// Returns true if a thread's activity is known for any cause.
bool hasKnownState(const analysis::WorkerSummary& worker);

/// Returns the main kind of a worker's launches: " Launched work: 21 kernels per step, 13.98 us each.", or, if these
/// are more, " Launched work: 331 copies per step of 12.3 kB each, more than kernels." `per` is " per step", or empty
/// for a run as a whole. Adds the line of most launches: as the place if `isPlace`, else as a detail. Empty if there is
/// no work. O(contributors).
std::string launchedWork(const analysis::WorkerSummary& worker, std::string_view per, bool isPlace);

/// Returns true if a step launches so few pieces of work that fewer launches cannot help.
bool hasFewLaunches(const analysis::WorkerSummary& worker);
/// Returns true if nearly each kernel is a compiled program of its own, as operations of JAX outside of jit are.
bool isDispatchedSingly(const analysis::WorkerSummary& worker);
/// Returns true if the GPU runs dry in so many waits of the thread that it can never launch far ahead.
bool isDrained(const analysis::WorkerSummary& worker);
/// Returns " 75.2 times per step the GPU runs out of work because the launching thread waits for the GPU ..." if it
/// waits so often that it can never launch far ahead. Else empty. `per` is " per step", or empty for a run as a whole.
std::string drainedSentence(const analysis::WorkerSummary& worker, std::string_view per);

/// Measured duration of a launch without profiler, back to back: the call alone takes no longer (limits.md).
inline constexpr int64_t plainLaunchNs = 2'450;
/// Maximum profiler overhead of a launch on a busy machine. A longer launch waits for something.
inline constexpr int64_t maxOverheadNs = 10'000;

/// Returns the part of the mean step's launch time that may be profiler overhead: the time of each launch beyond one
/// without profiler. 0 for traces of third-party recorders, which were not measured.
int64_t overheadShareNs(const analysis::RunSummary& run, const analysis::WorkerSummary& worker);
/// Returns " In addition, recording may cost up to 2.983 ms per step: ..." for `ns` of a mean
/// step, by the durations of its launches. Empty for 0. `per` is " per step", or empty for a run as a whole.
std::string overheadSentence(const analysis::WorkerSummary& worker, int64_t ns, std::string_view per);

}  // namespace lanescope::explain
